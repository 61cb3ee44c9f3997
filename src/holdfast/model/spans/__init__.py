"""Parts of files that a memory can rest on: some lines, or a symbol by its name; pure, on text handed in."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
