#!/bin/sh
# Holdfast's hook for agents, written by `holdfast connect`. Its text may change, its path never does.
python={python}
hook={hook}
[ -x "$python" ] && [ -f "$hook" ] || exit 0
[ -f "${hook%.py}.sh" ] && . "${hook%.py}.sh"
exec "$python" -I -S "$hook" "$@"
