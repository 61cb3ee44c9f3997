"""The work graph: what is ready, what waits and why, who works on what, and how it is drawn and moved."""

from holdfast.lazy_module import lazy_modules

TYPE_CHECKING = False
if not TYPE_CHECKING:
    __getattr__ = lazy_modules(__name__, __path__[0])
