"""Explains why a line is there: which run and turn wrote it, or that none was recorded."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
