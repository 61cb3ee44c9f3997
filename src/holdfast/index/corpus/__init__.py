"""The corpus: the repository's own commits, documents and code, made searchable.

It is a file of its own next to the index, with the same tables, so that one search reads both. Like the index it can be
deleted: everything in it is read from git again.
"""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
