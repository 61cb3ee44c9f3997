"""Look-up to context: search, and the rendered views."""
