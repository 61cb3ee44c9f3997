"""The MCP server: agents ask for memory, propose some, and take tasks; over stdio or loopback HTTP."""

from holdfast.lazy_module import lazy_modules

TYPE_CHECKING = False
if not TYPE_CHECKING:
    __getattr__ = lazy_modules(__name__, __path__[0])
