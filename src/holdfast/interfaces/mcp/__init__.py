"""The MCP server: agents ask for memory, propose some, and take tasks; over stdio or loopback HTTP."""
