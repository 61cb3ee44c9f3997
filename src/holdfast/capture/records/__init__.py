"""Knowledge that people wrote down before: decision records and notes, read and written."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
