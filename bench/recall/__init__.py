"""How much recall finds, on any folder of question sets: `python -m bench.recall FOLDER`."""
