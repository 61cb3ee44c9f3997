"""The index: SQLite files for search that can be deleted at any time.

`refresh` updates it to what the clone shows, `search` queries it, `freshness` says without git whether it is current,
`ready` keeps rendered answers. Nothing here is ever written back to the store.
"""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
