"""A data folder with its database, empty or restored from an archive, and processes of the product that use it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zipfile import ZipFile

import psycopg

from tests import ROOT

HERE = Path(__file__).parent
DUMP = "database.sql"
"""File in the archive of PostgreSQL: a plain-text dump, restored without PostgreSQL's own programs."""
SCRIPT = "import django; django.setup(); from tests.old_data import {name}; {name}.main()"


@dataclass(frozen=True)
class DataFolder:
    path: Path
    database_url: str = ""
    """Address of a PostgreSQL database; empty for SQLite in the folder."""

    @property
    def kind(self) -> str:
        return "postgresql" if self.database_url else "sqlite"

    @property
    def archive(self) -> Path:
        return HERE / f"{self.kind}.zip"

    def restore(self) -> None:
        """Fills the empty folder, and the empty database, with the old data."""
        with ZipFile(self.archive) as archive:
            archive.extractall(self.path)
        if self.database_url:
            with psycopg.connect(self.database_url, autocommit=True) as connection:
                connection.execute((self.path / DUMP).read_bytes())

    def run(self, *arguments: str, input: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        """Runs Python with these arguments and waits for its end. `settings` are environment variables."""
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("CHAINVIZ_")},
            "DJANGO_SETTINGS_MODULE": "chainviz.settings",
            "CHAINVIZ_DATA": str(self.path),
            "CHAINVIZ_DATABASE_URL": self.database_url,
            **settings,
        }
        return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, input=input, capture_output=True, text=True)

    def script(self, name: str, **settings: str) -> str:
        """Runs `main` of story.py or reading.py. Returns what it prints."""
        ended = self.run("-W", "ignore", "-c", SCRIPT.format(name=name), **settings)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def connect(self) -> Any:
        """Connects to the database, without the product. What the block changes is rolled back."""
        if self.database_url:
            return closing(psycopg.connect(self.database_url))
        return closing(sqlite3.connect(self.path / "chainviz.sqlite3"))


@contextmanager
def new_data_folder(path: Path, server_url: str = "") -> Iterator[DataFolder]:
    """Makes an empty one: on SQLite, or with a new database on that PostgreSQL server, which is dropped afterwards."""
    if not server_url:
        yield DataFolder(path)
        return
    name = f"chainviz_{path.name}_{os.getpid()}".replace("-", "_")
    with psycopg.connect(server_url, dbname="postgres", autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            yield DataFolder(path, urlsplit(server_url)._replace(path=f"/{name}").geturl())
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
