from __future__ import annotations

import errno
import sqlite3

import psycopg
import pytest
from django.db import OperationalError
from django.http import HttpRequest
from django.test import RequestFactory

from chainviz.store.errors import is_disk_full
from chainviz.web.errors import server_error


def full_database() -> sqlite3.Error:
    """Return the exception that SQLite raises if it cannot add a page."""
    database = sqlite3.connect(":memory:")
    database.execute("PRAGMA max_page_count = 2")
    with pytest.raises(sqlite3.OperationalError) as caught:
        database.execute("CREATE TABLE held AS SELECT zeroblob(100000)")
    return caught.value


def answer_to(request: HttpRequest, error: Exception) -> tuple[int, str]:
    try:
        raise OperationalError("no") from error
    except OperationalError:
        response = server_error(request)
    return response.status_code, response.content.decode()


@pytest.mark.parametrize("error", [full_database(), OSError(errno.ENOSPC, "full"), psycopg.errors.DiskFull()], ids=repr)
def test_a_full_disk_is_named_and_what_was_typed_comes_back(error: Exception) -> None:
    assert is_disk_full(error)
    status, page = answer_to(RequestFactory().post("/", {"content": "Typed by hand", "seen": "abc"}), error)
    assert status == 507
    assert "The server’s disk is full" in page
    assert "Typed by hand" in page
    assert "abc" not in page


def test_other_errors_stay_faults_of_chainviz() -> None:
    status, page = answer_to(RequestFactory().get("/"), sqlite3.OperationalError("disk I/O error"))
    assert status == 500
    assert "chainviz made a mistake" in page
