"""Run a command beside the scripted model, in a network namespace that has nothing else: `inside.py PORT LOG COMMAND…`."""

from __future__ import annotations

import fcntl
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.agents.strict_model import model_on

PATIENCE = 300.0
"""Seconds until an agent that does not end counts as stuck."""
_SET_FLAGS, _UP = 0x8914, 0x1


def raise_loopback() -> None:
    """A new network namespace has loopback, which is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))


def main(port: str, log: str, *command: str) -> int:
    raise_loopback()
    with model_on(int(port), Path(log)) as model:
        threading.Thread(target=model.serve_forever, daemon=True).start()
        code = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False).returncode
        model.shutdown()
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
