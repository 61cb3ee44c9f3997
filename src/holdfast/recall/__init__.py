"""Look-up to context: search, and the rendered views."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
