"""Commits that records cite, found again after history was rewritten: the right one, or none."""

from holdfast.lazy_module import lazy_modules

TYPE_CHECKING = False
if not TYPE_CHECKING:
    __getattr__ = lazy_modules(__name__, __path__[0])
