"""What git did since the last command in this work tree, and what that left in question."""
