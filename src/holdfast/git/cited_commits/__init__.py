"""Commits that were rewritten, found again: by git's own map, by patch, tree, squash or content."""

from holdfast.lazy_module import lazy_modules

TYPE_CHECKING = False
if not TYPE_CHECKING:
    __getattr__ = lazy_modules(__name__, __path__[0])
