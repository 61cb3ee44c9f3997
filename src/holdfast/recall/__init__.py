"""Answers from the index: search, explanations of lines, an agent's context, and the rendered views."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
