"""The application's settings for tests: a throw-away data folder, plain static files, SQLite or PostgreSQL."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

for name in [name for name in os.environ if name.startswith("CHAINVIZ_")]:
    if not name.startswith(("CHAINVIZ_TEST_", "CHAINVIZ_SHARED")):
        del os.environ[name]
FOLDER = Path(tempfile.mkdtemp(prefix="chainviz-tests-"))
os.environ["CHAINVIZ_DATA"] = str(FOLDER)

from chainviz.locations import database  # noqa: E402
from chainviz.settings import *  # noqa: E402, F403
from chainviz.settings import JOBS as JOBS_OF_THE_PRODUCT  # noqa: E402
from tests.jobs import JOBS as JOBS_OF_THE_TESTS  # noqa: E402

# "required" or "if it answers"; unset, the tests run on SQLite.
POSTGRESQL = os.environ.get("CHAINVIZ_TEST_POSTGRESQL", "")
POSTGRESQL_URL = os.environ.get("CHAINVIZ_TEST_DATABASE_URL") or "postgresql://postgres@127.0.0.1:5432/test"

DATABASES = {"default": database(POSTGRESQL_URL if POSTGRESQL else "", FOLDER)}
if POSTGRESQL:
    # The pool would keep connections open, and a database in use cannot be dropped after the tests.
    DATABASES["default"]["OPTIONS"] = {}
else:
    # A file, not memory: threads and processes of a test meet in it as they do in real life.
    DATABASES["default"]["TEST"] = {"NAME": str(FOLDER / "test.sqlite3")}
JOBS = {**JOBS_OF_THE_PRODUCT, **JOBS_OF_THE_TESTS}
# Hashing that is slow on purpose would be most of the time of a test that signs in.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STATIC_ROOT = FOLDER
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
