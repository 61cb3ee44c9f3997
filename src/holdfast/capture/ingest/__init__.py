"""One way in for all transcripts, live or imported: turns become runs, sessions and line hashes."""

from holdfast.lazy_module import lazy_modules

TYPE_CHECKING = False
if not TYPE_CHECKING:
    __getattr__ = lazy_modules(__name__, __path__[0])
