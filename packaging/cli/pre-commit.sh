#!/bin/sh
# The hook chainviz-check: installs chainviz-cli beside the clone of this repository at its first run, then checks the files.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
venv="$here/.venv"
if [ ! -e "$venv/.complete" ]; then
  rm -rf "$venv"
  "$(command -v python3 || command -v python)" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$here"
  touch "$venv/.complete"
fi
exec "$venv/bin/chainviz" check "$@"
