"""What things are: frozen values and pure rules, on the standard library only."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
