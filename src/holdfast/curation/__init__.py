"""Curation: candidates are proposed, people review them, and each memory's state is derived."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
