"""All input and output: the only code that prints or reads the environment."""
