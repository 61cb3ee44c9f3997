"""Screens for people at a terminal; nothing else imports what they are made of."""
