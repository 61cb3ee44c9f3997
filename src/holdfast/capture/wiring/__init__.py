"""Connecting agents: hooks and the MCP server in their own settings, put in and taken out again."""
