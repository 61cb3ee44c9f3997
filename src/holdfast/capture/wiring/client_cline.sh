#!/bin/sh
# Holdfast's hook for Cline, written by `holdfast connect`; `holdfast disconnect cline` takes it away.
[ -x @program@ ] || exit 0
exec @program@ cline @event@
