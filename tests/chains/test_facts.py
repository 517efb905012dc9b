"""Recorded facts are in the columns of the library, which a person chooses, in the explorer and in the inspector."""

from __future__ import annotations

import re
from html import unescape
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.access import version_of
from chainviz.chains.fsck import fsck_library
from chainviz.chains.library.columns import COLUMNS, FIRST_SHOWN
from chainviz.chains.models import Chain, ColumnChoice
from chainviz.chains.usage import FACTS, price_edition
from chainviz.chains.versions.heads import HEAD, copy_head, start_if_needed
from chainviz.jobs.worker import run_waiting_jobs
from tests.chains.files import page_text
from tests.chains.making import make_chain

pytestmark = [pytest.mark.django_db, pytest.mark.database]
USAGE = {"input_tokens": 1_000, "output_tokens": 50, "output_tokens_details": {"reasoning_tokens": 20}}


def at(minute: int, message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "timestamp": f"2025-03-05T12:{minute:02}:00Z"}


def call(id: str, name: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}


RUN = [
    at(0, {"role": "user", "content": "Look at it"}),
    at(1, {"role": "assistant", "content": None, "tool_calls": [call("a", "Read"), call("b", "Bash"), call("c", "Read")],
           "model": "claude-sonnet-4-5", "usage": USAGE}),
    at(2, {"role": "tool", "tool_call_id": "a", "content": "one"}),
    at(2, {"role": "tool", "tool_call_id": "b", "content": "two"}),
    at(38, {"role": "tool", "tool_call_id": "c", "content": "three"}),
]  # fmt: skip
SILENT = [{"role": "user", "content": "Hello"}, {"role": "tool", "tool_call_id": "lost", "content": "late"}]


def headings(client: Client) -> list[str]:
    found = re.findall(r'role="columnheader"[^>]*aria-sort[^>]*><a[^>]*>([^<]*)', client.get("/").content.decode())
    return [unescape(each).strip() for each in found]


@pytest.fixture
def run() -> Chain:
    return make_chain(RUN, "run.json")


def test_facts_are_stored_and_shown(run: Chain) -> None:
    assert (run.model, run.tools, run.calls, run.tool_errors) == ("claude-sonnet-4-5", [["Read", 2], ["Bash", 1]], 3, 0)
    assert run.began_at is not None and run.began_at.isoformat() == "2025-03-05T12:00:00+00:00"
    assert (run.duration, run.cost) == (38 * 60_000, 3_750)
    Client().post("/columns/", {"column": [column.name for column in COLUMNS]})
    row = page_text("/")
    for text in ("Read", "Bash", "claude-sonnet-4-5", "1.1k", "<$0.01", "38 min"):
        assert text in row
    assert 'title="1.0k in, 50 out · 20 reasoning"' in Client().get("/").content.decode()
    assert "38 min" in page_text(f"/c/{run.pk}/v/1/")
    node = page_text(f"/c/{run.pk}/v/1/inspect/s1.p1")
    assert "First message 5 Mar 2025, 12:01 UTC" in node and "Duration 37 min" in node


def test_nothing_recorded_is_a_dash_and_an_estimate(run: Chain) -> None:
    silent = make_chain(SILENT, "silent.json")
    assert (silent.began_at, silent.duration, silent.cost, silent.tokens) == (None, None, None, None)
    assert {"orphan-result", "anthropic:result-without-call"} <= set(silent.rules_broken)
    assert 'title="estimate"><span>≈ ' in Client().get("/").content.decode()


@pytest.mark.parametrize("column", [column.name for column in COLUMNS])
def test_every_column_sorts_and_chains_without_a_value_come_last(run: Chain, column: str) -> None:
    make_chain(SILENT, "silent.json")
    for sign in ("", "-"):
        assert page_text(f"/?order={sign}{column}").count("silent.json") >= 1
    if column in ("tokens", "cost", "duration", "time"):
        for sign in ("", "-"):
            listed = page_text(f"/?order={sign}{column}")
            assert listed.index("run.json") < listed.index("silent.json")


def test_a_person_chooses_columns_and_takes_the_choice_back(client: Client, run: Chain) -> None:
    labels = {column.name: column.label for column in COLUMNS}
    assert headings(client) == [labels[name] for name in FIRST_SHOWN]

    answer = client.post("/columns/", {"column": ["pairs", "cost", "nonsense"], "query": "q=look&order=size"})
    assert (answer.status_code, answer["Location"]) == (303, "/?q=look&order=size")
    assert headings(client) == ["Title", "Pairs", "Cost"]
    assert "<$0.01" in page_text("/") and "38 min" not in page_text("/")

    client.post("/columns/", {"act": "reset"})
    assert not ColumnChoice.objects.exists()
    assert headings(client) == [labels[name] for name in FIRST_SHOWN]


def test_other_list_prices_are_used_at_the_next_start(run: Chain, settings: Any, tmp_path: Any) -> None:
    own = tmp_path / "models.json"
    own.write_text('{"claude-sonnet-4-5": {"input": 1000, "output": 0}}')
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"models": str(own)})
    assert start_if_needed() is not None
    run_waiting_jobs()
    run.refresh_from_db()
    assert (run.cost, run.prices) == (1_000_000, price_edition())
    assert start_if_needed() is None


def test_all_that_is_copied_from_a_version_is_saved(run: Chain) -> None:
    written: Any = SimpleNamespace()
    copy_head(written, version_of(run, run.version))
    assert set(vars(written)) == set(HEAD), "name each fact in FACTS, chains/usage.py; other fields in HEAD, chains/versions/heads.py"


@pytest.mark.parametrize("name", FACTS)
def test_fsck_finds_a_wrong_fact(run: Chain, name: str) -> None:
    assert list(fsck_library()) == []
    wrong = {"usage": {"m": [1] * 6}, "tools": [], "rules_broken": ["x"], "model": "m", "began_at": run.changed_at}
    Chain.objects.update(**{name: wrong.get(name, 7)})
    found = [finding.text for finding in fsck_library()]
    assert found == ([] if name == "prices" else [f"The library does not show chain {run.pk} as its newest version is."])
