"""Agent to truth: commands and agents run, and what they did becomes capsules and events."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
