"""The empty database of SQLite that tests begin with. It is made once for each state of the migrations, and then copied."""

from __future__ import annotations

import fcntl
import re
import shutil
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import pytest
from django.conf import settings

from tests import ROOT
from tests.old_data.data_folder import DataFolder

IMPORTED = re.compile(r"^(?:from|import) (chainviz[\w.]*)(?: import (\w+))?", re.MULTILINE)
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
    """Return a digest of the migrations, of the modules that they import, and of the versions of the packages with others."""
    migrations = [file.read_text() for file in sorted(ROOT.glob("chainviz/*/migrations/*.py"))]
    imported = {name for text in migrations for module, member in IMPORTED.findall(text) for name in (module, f"{module}.{member}")}
    modules = [path.read_text() for name in sorted(imported) if (path := ROOT / f"{name.replace('.', '/')}.py").exists()]
    packages = [f"{name} {version(name)}" for name in ("django", "django-allauth")]
    return sha256("\0".join([*migrations, *modules, *packages]).encode()).hexdigest()


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
