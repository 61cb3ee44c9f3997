"""The context that an agent gets: its material, its lines section by section, and how they fit a budget."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
