"""What things are: frozen values and pure rules, on the standard library only."""
