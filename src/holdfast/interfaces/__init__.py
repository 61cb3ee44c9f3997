"""All input and output: the only code that prints or reads the environment."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
