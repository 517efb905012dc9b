"""Changes through the API: operations, their drafts and jobs, saving, and a draft that a newer version overtook."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chainviz.accounts.models import AuditRow
from chainviz.drafts.models import Draft
from chainviz.drafts.operations import run as operation_job
from chainviz.jobs.tasks import run_next_job
from tests.http_api.test_calls import FILE, Program, program  # noqa: F401

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_an_operation_makes_a_draft_and_a_version(program: Callable[..., Program]) -> None:  # noqa: F811
    editor = program()
    chain = editor.upload(FILE).json()["chains"][0]["id"]
    made = editor.send(f"/chains/{chain}/operations/repair", {"options": {}})
    assert made.status_code == 201
    draft = made.json()
    assert [step["operation"] for step in draft["steps"]] == ["repair"]
    assert editor.get(f"/chains/{chain}/drafts").json()["drafts"] == [draft]
    again = editor.send(f"/chains/{chain}/operations/repair", {})
    assert (again.status_code, f"draft {draft['id']}" in again.json()["error"]) == (409, True)

    saved = editor.send(f"/chains/{chain}/drafts/{draft['id']}/save", {"note": "repaired"})

    assert (saved.status_code, saved.json()["number"], saved.json()["note"]) == (200, 2, "repaired")
    assert [each["number"] for each in editor.get(f"/chains/{chain}/versions").json()["versions"]] == [2, 1]
    diff = editor.get(f"/chains/{chain}/diff/1..2").json()
    assert diff["changes"]
    assert sum(diff["counts"].values()) == len(diff["changes"])
    assert editor.send(f"/chains/{chain}/drafts/{draft['id']}/save", {}).status_code == 409
    assert [row.act for row in AuditRow.objects.order_by("number")] == ["added", "api:upload", "api:run_operation", "api:save_draft"]


def test_an_operation_saves_at_once_where_asked(program: Callable[..., Program]) -> None:  # noqa: F811
    editor = program()
    chain = editor.upload(FILE).json()["chains"][0]["id"]
    saved = editor.send(f"/chains/{chain}/operations/repair", {"save": True, "note": "by CI"})
    assert (saved.status_code, saved.json()["number"], saved.json()["note"]) == (200, 2, "by CI")


def test_steps_are_undone_and_drafts_discarded(program: Callable[..., Program]) -> None:  # noqa: F811
    editor = program()
    chain = editor.upload(FILE).json()["chains"][0]["id"]
    draft = editor.send(f"/chains/{chain}/operations/repair", {}).json()["id"]
    assert editor.send(f"/chains/{chain}/drafts/{draft}/undo").json()["steps"] == []
    assert editor.send(f"/chains/{chain}/drafts/{draft}/discard").status_code == 200
    assert editor.send(f"/chains/{chain}/drafts/{draft}/undo").status_code == 409
    assert editor.get(f"/chains/{chain}/drafts").json()["drafts"] == []


def test_an_operation_on_a_long_chain_is_a_job(
    program: Callable[..., Program],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(operation_job, "MESSAGES_AT_ONCE", 1)
    editor = program()
    chain = editor.upload(FILE).json()["chains"][0]["id"]
    answer = editor.send(f"/chains/{chain}/operations/repair", {})
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")
    assert run_next_job()
    job = editor.client.get(answer.json()["url"]).json()
    assert (job["state"], job["draft"]) == ("done", Draft.objects.get().pk)


def mask(who: Program, chain: int, word: str, **more: object) -> dict[str, object]:
    options = {"own_words": word}
    answer = who.send(f"/chains/{chain}/operations/mask", {"options": options, "version": 1, **more})
    assert answer.status_code == (200 if more else 201), answer.content
    return dict(answer.json())


@pytest.mark.parametrize(("side", "has_drill", "has_wall"), [("mine", False, True), ("theirs", True, False), ("both", False, False)])
def test_a_draft_that_was_overtaken_is_rebased_with_choices(
    program: Callable[..., Program],  # noqa: F811
    side: str,
    has_drill: bool,
    has_wall: bool,
) -> None:
    mine, theirs = program(), program()
    chain = int(mine.upload(FILE).json()["chains"][0]["id"])
    draft = f"/chains/{chain}/drafts/{mask(mine, chain, 'drill')['id']}"
    assert mine.get(f"{draft}/conflicts").json() == {"base": 1, "head": 1, "conflicts": []}
    mask(theirs, chain, "wall", save=True)
    assert mine.send(f"{draft}/save", {}).status_code == 409

    found = mine.get(f"{draft}/conflicts").json()
    assert (found["base"], found["head"]) == (1, 2)
    keys = [each["key"] for each in found["conflicts"]]
    assert keys and {"mine", "theirs"} <= set(found["conflicts"][0]["choices"])
    refused = mine.send(f"{draft}/rebase", {"choices": dict.fromkeys(keys[1:], "mine")})
    assert (refused.status_code, found["conflicts"][0]["path"] in refused.json()["error"]) == (409, True)
    assert mine.send(f"{draft}/rebase", {"choices": {keys[0]: "ours"}}).status_code == 422
    assert mine.get(draft).json()["base"] == 1

    rebased = mine.send(f"{draft}/rebase", {"choices": dict.fromkeys(keys, side)})
    assert (rebased.status_code, rebased.json()["base"]) == (200, 2)
    assert mine.send(f"{draft}/save", {}).json()["number"] == 3
    text = mine.get(f"/chains/{chain}/versions/3/export").getvalue().decode()
    assert ("Which drill" in text, "wall?" in text) == (has_drill, has_wall)
    assert "A *hammer* drill" not in text, "mine, where nobody else changed anything"
