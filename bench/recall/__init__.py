"""How well recall finds what is asked for, on any folder of question sets: `python -m bench.recall FOLDER`."""
