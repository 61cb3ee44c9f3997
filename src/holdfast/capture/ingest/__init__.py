"""One way in for all transcripts, live or imported: turns become runs, sessions and line hashes."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
