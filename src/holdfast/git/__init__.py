"""Git, the medium: lines, what is visible here, publishing and reconciling."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
