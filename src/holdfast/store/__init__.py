"""Truth on disk: where files lie, what their bytes mean, and the one way to write them."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
