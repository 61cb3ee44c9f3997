"""Commits that records cite, found again after history was rewritten: the right one, or none."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
