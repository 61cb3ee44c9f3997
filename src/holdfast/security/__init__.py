"""What must not leave: redaction of secrets, and who counts as a person."""
