"""Connecting agents: hooks and the MCP server in their own settings, put in and taken out again."""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
