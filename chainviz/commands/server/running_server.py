"""Find the running server of this data folder on this machine, by a file that it keeps there while it runs."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from pathlib import Path

from chainviz.settings import CHAINVIZ

SECONDS = 2.0
"""The most seconds to wait for a connection on this machine."""


def _note() -> Path:
    return CHAINVIZ.data / "serving.json"


def note_server(host: str, port: int, url: str) -> None:
    with suppress(OSError):  # the server also runs on a full disk
        _note().write_text(json.dumps({"host": host, "port": port, "url": url}))


def forget_server() -> None:
    with suppress(OSError):
        _note().unlink()


def running_url() -> str:
    """Return the address of the running server; "" if no server answers, because a killed server leaves its file."""
    try:
        found = json.loads(_note().read_text())
        with socket.create_connection((found["host"], found["port"]), timeout=SECONDS):
            return str(found["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
