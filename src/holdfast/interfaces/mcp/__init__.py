"""The MCP server: agents ask for memory, propose some, and take tasks; over stdio or loopback HTTP."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
