#!/bin/sh
# Holdfast's MCP server for agents, written by `holdfast connect`. Its text may change, its path never does.
python={python}
[ -x "$python" ] || { echo "Holdfast moved: run holdfast connect again" >&2; exit 1; }
exec "$python" -P -m holdfast mcp "$@"
