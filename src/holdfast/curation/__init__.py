"""Truth to better truth: candidates are proposed, people review them."""
