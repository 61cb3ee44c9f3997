"""The files on disk: their places, their formats, and the one way to write them."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
