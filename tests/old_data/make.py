"""Made `sqlite.zip`, `postgresql.zip` and `expected.json` at commit 29970b1: `python -m tests.old_data.make POSTGRESQL_URL`.

Commit 37cbf70 then migrated both databases: it is the last one with every migration that `0001_squashed` replaces.
It is kept as a record. Files made by later code would not be old data.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_LZMA, ZipFile

from tests.old_data.data_folder import DUMP, HERE, DataFolder, new_data_folder
from tests.shared_folder import FOLDER

NO_MODEL = {"CHAINVIZ_LLM_BASE_URL": "http://127.0.0.1:9/v1", "CHAINVIZ_LLM_MODEL": "small"}
"""Nothing listens on that port."""
PSQL_COMMAND = re.compile(rb"^\\(un)?restrict .*\n", re.MULTILINE)
SECTIONS = ("tables", "exports", "audit", "lineage", "drafts")


def make(server_url: str) -> dict[str, Any]:
    """Archives a data folder. Returns what reading.py finds in it."""
    with TemporaryDirectory() as path, new_data_folder(Path(path), server_url) as folder:
        folder.script("story", CHAINVIZ_SHARED=str(FOLDER), **NO_MODEL)
        pack(folder)
    with TemporaryDirectory() as path, new_data_folder(Path(path), server_url) as folder:
        folder.restore()
        found = json.loads(folder.script("reading"))
    assert not found["failed"], found["failed"]
    return {section: found[section] for section in SECTIONS}


def pack(folder: DataFolder) -> None:
    if folder.database_url:
        dump = ["pg_dump", "--inserts", "--rows-per-insert=100", "--no-owner", "--no-privileges", folder.database_url]
        sql = subprocess.run(dump, capture_output=True, check=True).stdout
        (folder.path / DUMP).write_bytes(PSQL_COMMAND.sub(b"", sql))
    with ZipFile(folder.archive, "w", ZIP_LZMA) as archive:
        for file in sorted(folder.path.rglob("*")):
            archive.write(file, file.relative_to(folder.path))


def text_of(value: Any, depth: int = 4) -> str:
    """Returns JSON with one row per line."""
    if not depth or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[\n" + ",\n".join(text_of(each, depth - 1) for each in value) + "\n]"
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {text_of(each, depth - 1)}" for key, each in value.items()) + "\n}"


if __name__ == "__main__":
    expected = {"sqlite": make(""), "postgresql": make(sys.argv[1])}
    (HERE / "expected.json").write_text(text_of(expected) + "\n")
