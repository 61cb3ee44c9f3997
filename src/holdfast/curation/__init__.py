"""Truth to better truth: candidates are proposed, people review them."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
