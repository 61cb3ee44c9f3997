"""Truth on disk: where files lie, what their bytes mean, and the one way to write them."""

from holdfast.lazy_module import lazy_modules

TYPE_CHECKING = False
if not TYPE_CHECKING:
    __getattr__ = lazy_modules(__name__, __path__[0])
