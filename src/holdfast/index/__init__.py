"""Truth to look-up: a SQLite index that may be thrown away at any time.

`refresh` brings it up to what the clone shows, `search` asks it, `freshness` says without git
whether it is up to date, `ready` keeps answers that were rendered before. Nothing here is ever
written back to the truth.
"""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
