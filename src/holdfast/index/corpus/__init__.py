"""What the repository itself holds, made findable: its commits, its documents and its code.

It lies in a file of its own beside the index, with the same tables, so that one search reads both. Like
the index it may be thrown away: everything in it is read from git again.
"""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
