"""Redacts secrets, seals text, and decides who counts as a person."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
