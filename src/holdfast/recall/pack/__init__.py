"""The parts of a pack: what there is to tell, its lines section by section, counting and fitting them."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
