"""The floor: what the bytes of a file cost a program that has no code of ours. A C parser, sha256 and a SQLite write."""

from __future__ import annotations

import json
import sqlite3
from hashlib import sha256
from pathlib import Path

CHUNK = 1 << 18


def floor(file: Path, database: Path) -> None:
    """Parses the whole file (`json.loads`), hashes it, and writes it durably in chunks."""
    content = file.read_bytes()
    json.loads(content)
    digest = sha256(content).digest()
    database.unlink(missing_ok=True)
    with sqlite3.connect(database) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.execute("CREATE TABLE chunk (number INTEGER PRIMARY KEY, content BLOB, file BLOB)")
        for number, start in enumerate(range(0, len(content), CHUNK)):
            db.execute("INSERT INTO chunk VALUES (?, ?, ?)", (number, content[start : start + CHUNK], digest))
