"""Knowledge that people wrote down before: decision records and notes, read and written."""
