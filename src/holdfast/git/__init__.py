"""Reads and writes through git: branch identities, what is visible here, publishing, hooks, reconciling."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
