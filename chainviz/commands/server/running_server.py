"""Find the server that runs on this machine with this data folder, by a note that it leaves there while it runs."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from pathlib import Path

from chainviz.settings import CHAINVIZ

SECONDS = 2.0
"""For a connection on this machine."""


def _note() -> Path:
    return CHAINVIZ.data / "serving.json"


def note_server(host: str, port: int, url: str) -> None:
    with suppress(OSError):  # on a full disk the server runs all the same
        _note().write_text(json.dumps({"host": host, "port": port, "url": url}))


def forget_server() -> None:
    with suppress(OSError):
        _note().unlink()


def running_url() -> str:
    """The address that people open; "" where no server answers. One that was killed left its note."""
    try:
        found = json.loads(_note().read_text())
        with socket.create_connection((found["host"], found["port"]), timeout=SECONDS):
            return str(found["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
