"""The empty database of SQLite that tests begin with. It is made once for each state of the migrations, and then copied."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import pytest
from django.conf import settings

from tests import ROOT
from tests.old_data.data_folder import DataFolder

PREPARED = ROOT / ".pytest_cache" / "databases"


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with all tables and no content."""
    PREPARED.mkdir(parents=True, exist_ok=True)
    path = PREPARED / state_of_migrations() / "chainviz.sqlite3"
    with (PREPARED / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            folder = DataFolder(tmp_path_factory.mktemp("migrated"))
            ended = folder.run("manage.py", "migrate", "--verbosity", "0")
            assert ended.returncode == 0, ended.stderr
            for earlier in PREPARED.glob("*/"):
                shutil.rmtree(earlier)
            path.parent.mkdir()
            shutil.move(folder.path / path.name, path)
    return path


def state_of_migrations() -> str:
    """Return a digest of the migrations, of the store's code that they call, and of the versions of the packages with others."""
    files = chain(ROOT.glob("chainviz/*/migrations/*.py"), ROOT.glob("chainviz/store/**/*.py"))
    packages = (f"{name} {version(name)}" for name in ("django", "django-allauth"))
    return sha256(b"\0".join([*(file.read_bytes() for file in sorted(files)), *map(str.encode, packages)])).hexdigest()


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    return not settings.POSTGRESQL


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None, request: pytest.FixtureRequest) -> Iterator[None]:
    """Put a copy where the tests of this process look for their database."""
    if settings.POSTGRESQL:
        yield
        return
    path = Path(settings.DATABASES["default"]["TEST"]["NAME"])
    shutil.copy(request.getfixturevalue("migrated"), path)
    yield
    path.unlink()
