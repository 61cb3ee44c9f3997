"""Screens for people at a terminal; nothing else imports what they are made of."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
