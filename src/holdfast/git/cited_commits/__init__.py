"""Finds cited commits again after history was rewritten: the right commit, or none."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
