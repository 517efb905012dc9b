"""The API as a program uses it: tokens, uploads, trees, operations, drafts, versions, exports and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import AuditRow, Membership, Team
from chainviz.accounts.permissions import Role
from chainviz.accounts.tokens import create_token
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.uploads import arrivals
from chainviz.jobs.tasks import run_next_job
from chainviz.review.models import TeamRules, Thread
from chainviz.review.threads.writing import NewThread, begin
from tests.accounts.people import client_of, make_member, make_team
from tests.chains.files import lines
from tests.chains.making import STORY, ai, human, make_chain
from tests.core.formats.test_react_log import LOG

pytestmark = [pytest.mark.django_db, pytest.mark.database]
FILE = json.dumps({"messages": STORY}).encode()
ALL = ("read", "write", "export")
V1 = "/api/v1"


class Program:
    """Calls the API with a token."""

    def __init__(self, token: str) -> None:
        self.client = Client(headers={"Authorization": f"Bearer {token}"}, enforce_csrf_checks=True)

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(V1 + path, query)

    def send(self, path: str, body: Any = b"", kind: str = "application/json") -> Any:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.post(V1 + path, content, content_type=kind)

    def upload(self, content: bytes, query: str = "") -> Any:
        return self.send(f"/uploads{query}", content, "application/octet-stream")


@pytest.fixture
def program(team_mode: Team) -> Callable[..., Program]:
    def make(role: Role = Role.EDITOR, scopes: tuple[str, ...] = ALL, team: Team = team_mode) -> Program:
        member = make_member(team, f"{role.label}{Membership.objects.count()}", role)
        return Program(create_token(member, "test", scopes, 30)[1])

    return make


def test_the_same_bytes_are_the_same_upload(program: Callable[..., Program]) -> None:
    editor = program()
    first = editor.upload(FILE, "?name=run.json")
    again = editor.upload(FILE, "?name=other.json")

    assert (first.status_code, again.status_code) == (201, 200)
    made, known = (answer.json()["chains"][0] for answer in (first, again))
    assert (made["id"], made["title"], made["file_name"], made["format"], made["messages"]) == (
        known["id"],
        "Which drill fits **this** wall?",
        "run.json",
        "openai_chat",
        len(STORY),
    )
    assert (first.json()["state"], again.json()["state"]) == ("done", "known")
    assert made["url"].endswith(f"/c/{made['id']}/")
    assert not Arrival.objects.exists()


def test_a_chain_says_what_its_transcript_records(program: Callable[..., Program]) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 10}
    messages = [{**human("Hi"), "timestamp": 1741176000}, {**ai("Yes"), "model": "gpt-4o", "usage": usage, "timestamp": 1741176002}]
    made = program().upload(json.dumps(messages).encode(), "?name=run.json").json()["chains"][0]
    assert (made["model"], made["tools"], made["tool_errors"], made["seconds"]) == ("gpt-4o", {}, 0, 2)
    assert made["usage"] == [{"model": "gpt-4o", "calls": 1, "input": 1000, "cached": 0, "written": 0, "output": 10, "reasoning": 0}]
    assert made["cost"] > 0 and made["began_at"].startswith("2025-03-05T12:00:00")


def test_every_chain_of_a_file_comes_in(program: Callable[..., Program]) -> None:
    answer = program().upload(lines(3), "?name=many.jsonl")
    assert answer.status_code == 201
    assert len(answer.json()["chains"]) == Chain.objects.count() == 3
    assert not Arrival.objects.exists()


def test_a_large_file_is_imported_by_a_job(program: Callable[..., Program], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "BIG", 10)
    editor = program()
    answer = editor.upload(FILE)
    assert (answer.status_code, answer.json()["state"]) == (202, "importing")
    assert run_next_job()
    later = editor.get(f"/uploads/{answer.json()['id']}").json()
    assert (later["state"], later["chains"][0]["id"]) == ("done", Chain.objects.get().pk)


def test_a_large_file_names_all_chains_that_it_became(program: Callable[..., Program], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "BIG", 10)
    editor = program()
    asked = f"/uploads/{editor.upload(lines(3)).json()['id']}"
    assert editor.get(asked).json()["chains"] == []
    assert run_next_job()
    keys = list(Chain.objects.order_by("pk").values_list("pk", flat=True))
    assert [chain["id"] for chain in editor.get(asked).json()["chains"]] == keys and len(keys) == 3


def test_a_file_that_is_no_chain_is_refused_with_its_place(program: Callable[..., Program]) -> None:
    editor = program()
    answer = editor.upload(b'{"messages": [\n{"role": }]}')
    assert answer.status_code == 422
    assert answer.json()["where"] == "line 2"
    assert answer.json()["error"].endswith(".")
    assert editor.upload(b"").status_code == 422
    assert editor.upload(FILE, "?format=nonsense").json()["error"].startswith("There is no format “nonsense”; choose one of")
    assert not Arrival.objects.exists()


def test_how_a_format_is_read_can_be_chosen(program: Callable[..., Program]) -> None:
    editor = program()
    assert editor.upload(LOG.encode(), "?format=react_log:call,omit").status_code == 201
    assert {chain.format for chain in Chain.objects.all()} == {"react_log:call,omit"}
    assert "has no choice “loud”" in editor.upload(LOG.encode(), "?format=react_log:loud").json()["error"]


def test_a_chain_in_the_bin_is_named(program: Callable[..., Program]) -> None:
    editor = program()
    editor.upload(FILE)
    Chain.objects.update(trashed_at=Chain.objects.get().created_at)
    answer = editor.upload(FILE)
    assert (answer.status_code, "bin" in answer.json()["error"]) == (409, True)


def test_lists_are_paged(program: Callable[..., Program]) -> None:
    editor = program()
    editor.upload(lines(3))
    first = editor.get("/chains", limit=2).json()
    rest = editor.get("/chains", limit=2, before=first["next"]).json()
    assert [len(page["chains"]) for page in (first, rest)] == [2, 1]
    assert rest["next"] is None
    assert {chain["id"] for page in (first, rest) for chain in page["chains"]} == set(Chain.objects.values_list("pk", flat=True))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"limit": "x"}, "query.limit: it needs a whole number, not “x”."),
        ({"limit": "0"}, "query.limit: it needs at least 1, not “0”."),
        ({"before": "1.5"}, "query.before: it needs a whole number, not “1.5”."),
    ],
)
def test_a_wrong_value_is_told_in_words_of_ours(program: Callable[..., Program], asked: dict[str, str], said: str) -> None:
    answer = program().get("/chains", **asked)
    assert (answer.status_code, answer.json()["error"]) == (422, said)


def test_a_wrong_member_of_a_body_is_told_in_words_of_ours(program: Callable[..., Program]) -> None:
    editor = program()
    chain = editor.upload(FILE).json()["chains"][0]["id"]
    refused = editor.send(f"/chains/{chain}/operations/repair", {"version": "first"}).json()
    assert refused == {"error": "body.version: it needs a whole number.", "code": "invalid-field", "where": "body.version"}


def test_tree_and_problems(program: Callable[..., Program]) -> None:
    editor = program()
    chain = editor.upload(FILE).json()["chains"][0]["id"]
    at = f"/chains/{chain}/versions/1"
    first = editor.get(f"{at}/tree", limit=1).json()
    assert [row["path"] for row in first["rows"]] == ["s1"]
    rest = editor.get(f"{at}/tree", **{"from": first["next"]}).json()
    assert [row["path"] for row in rest["rows"]][:2] == ["s1.h.m0", "s1.h.m1"]
    found = editor.get(f"{at}/problems").json()
    assert (found["total"], found["verdict"]) == (len(found["problems"]), "")
    assert editor.get(f"{at}/problems", provider="anthropic").json()["verdict"] in ("accepted", "rejected", "unchecked")
    assert editor.get(f"{at}/problems", provider="nobody").status_code == 422
    assert editor.get(f"{at}/tree", **{"from": "s99"}).status_code == 422
    assert editor.get(f"/chains/{chain}/versions/0/tree").status_code == 404


def test_comments_are_written_answered_and_resolved(program: Callable[..., Program]) -> None:
    editor, commenter = program(), program(Role.COMMENTER)
    chain = editor.upload(FILE).json()["chains"][0]["id"]
    words = {"path": "s1.p1", "quote": "look it up", "text": "Where?"}
    made = commenter.send(f"/chains/{chain}/versions/1/threads", words)
    assert made.status_code == 201
    begun = made.json()
    assert (begun["number"], begun["kind"], begun["path"], begun["quote"]) == (1, "text", "s1.p1.m0.c0", "look it up")

    answered = editor.send(f"/chains/{chain}/threads/1/replies", {"text": "In the list."}).json()

    assert [(each["author"][:6], each["text"]) for each in answered["comments"]] == [("Commen", "Where?"), ("Editor", "In the list.")]
    assert editor.get(f"/chains/{chain}/threads").json() == {"threads": [answered], "next": None}
    assert editor.send(f"/chains/{chain}/threads/1/resolved", {}).json()["resolved"] is True
    assert commenter.send(f"/chains/{chain}/threads/1/replies", {"text": "But …"}).status_code == 409
    assert editor.send(f"/chains/{chain}/threads/1/resolved", {"resolved": False}).json()["resolved"] is False
    assert commenter.send(f"/chains/{chain}/versions/1/threads", {**words, "quote": "no such words"}).status_code == 422
    assert commenter.send(f"/chains/{chain}/versions/9/threads", words).status_code == 404
    assert commenter.send(f"/chains/{chain}/threads/9/replies", {"text": "Hm"}).status_code == 404
    assert program(Role.VIEWER).send(f"/chains/{chain}/versions/1/threads", words).status_code == 403
    assert AuditRow.objects.filter(act__startswith="api:", outcome="done").count() == 5


def test_own_comments_are_edited_and_deleted(program: Callable[..., Program]) -> None:
    editor, commenter = program(), program(Role.COMMENTER)
    chain = editor.upload(FILE).json()["chains"][0]["id"]
    words = {"path": "s1.p1", "quote": "o", "nth": 2, "text": "Wher?"}
    begun = commenter.send(f"/chains/{chain}/versions/1/threads", words).json()
    mine = f"/chains/{chain}/comments/{begun['comments'][0]['id']}"
    assert commenter.send(f"{mine}/text", {"text": "Where?"}).json()["text"] == "Where?"
    shown = editor.get(f"/chains/{chain}/threads/1").json()
    assert (shown["comments"][0]["text"], shown["comments"][0]["edited_at"] is None) == ("Where?", False)
    for act, body in (("text", {"text": "Not mine"}), ("delete", {})):
        assert editor.send(f"{mine}/{act}", body).status_code == 404, "somebody else's"
    assert commenter.send(f"{mine}/text", {"text": " "}).status_code == 422
    gone = commenter.send(f"{mine}/delete").json()
    assert gone["text"] == "" and gone["deleted_at"]
    assert editor.get(f"/chains/{chain}/threads/1").json()["comments"] == [gone]
    assert commenter.send(f"{mine}/delete").status_code == 404


def test_labels_are_set_listed_and_removed(program: Callable[..., Program]) -> None:
    editor, commenter = program(), program(Role.COMMENTER)
    chain = editor.upload(FILE).json()["chains"][0]["id"]
    here = f"/chains/{chain}/versions/1/labels"
    of_chain = commenter.send(here, {"kind": "outcome", "value": "fail"}).json()
    assert (of_chain["text"], of_chain["value"], of_chain["path"]) == ("fail", 0, "")
    rated = commenter.send(here, {"kind": "rating", "value": "2", "path": "s1.p2.m0"}).json()
    again = commenter.send(here, {"kind": "rating", "value": "4", "path": "s1.p2"}).json()
    assert (again["id"], again["text"], again["path"]) == (rated["id"], "4 of 5", "s1.p2")
    for wrong in ({"kind": "rating", "value": "6"}, {"kind": "mood", "value": "1"}, {"kind": "tag", "value": "x", "path": "s9"}):
        assert commenter.send(here, wrong).status_code == 422, wrong
    assert commenter.send(f"/chains/{chain}/versions/9/labels", {"kind": "tag", "value": "x"}).status_code == 404
    options = {"options": {"path": "s1.p1", "action": "delete"}, "save": True}
    assert editor.send(f"/chains/{chain}/operations/edit", options).status_code == 200
    listed = commenter.get(f"/chains/{chain}/labels").json()
    assert [(each["text"], each["set_on"], each["path"], each["state"]) for each in listed["labels"]] == [
        ("fail", "", "", "carried"),
        ("4 of 5", "s1.p2", "s1.p1", "carried"),
    ]
    first = commenter.get(f"/chains/{chain}/labels", limit=1).json()
    assert [each["id"] for each in commenter.get(f"/chains/{chain}/labels", after=first["next"]).json()["labels"]] == [rated["id"]]
    remove = f"/chains/{chain}/labels/{rated['id']}/remove"
    assert program(Role.COMMENTER).send(remove).status_code == 422, "somebody else's"
    assert editor.send(remove).json()["id"] == rated["id"]
    assert commenter.send(remove).status_code == 404
    rows = program(Role.VIEWER).get("/labels/export", format="csv").getvalue().decode().splitlines()
    assert len(rows) == 2 and ',"outcome","outcome",0,' in rows[1]
    assert program().get("/comments/export", chain=chain).getvalue() == b""
    assert program(Role.VIEWER, ("read",)).get("/labels/export").status_code == 403


def test_a_pending_comment_is_its_authors_only(program: Callable[..., Program], team_mode: Team) -> None:
    chain = program().upload(FILE).json()["chains"][0]["id"]
    author = make_member(team_mode, "Ada", Role.COMMENTER)
    begin(Chain.objects.get(), author.user, NewThread(1, Thread.Kind.CHAIN), "not yet", is_pending=True)
    other = program(Role.OWNER)
    assert other.get(f"/chains/{chain}/threads").json()["threads"] == []
    assert other.send(f"/chains/{chain}/threads/1/replies", {"text": "I see it"}).status_code == 404
    own = Program(create_token(author, "own", ["read"], 30)[1])
    assert len(own.get(f"/chains/{chain}/threads").json()["threads"]) == 1


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (b"{", "body"),
        ({"options": 5}, "body.options"),
        ({"options": {"nonsense": 1}}, ""),
        ({"draft": 10**30}, "body.draft"),
        ({"note": "x" * 501}, "body.note"),
    ],
)
def test_what_cannot_be_read_is_named(program: Callable[..., Program], body: Any, where: str) -> None:
    editor = program()
    chain = editor.upload(FILE).json()["chains"][0]["id"]
    answer = editor.send(f"/chains/{chain}/operations/repair", body)
    assert answer.status_code in (400, 422)
    assert set(answer.json()) == {"error", "code", "where"}
    assert answer.json()["where"] == where


def test_an_export_is_the_upload_and_is_recorded(program: Callable[..., Program]) -> None:
    editor = program()
    chain = editor.upload(FILE).json()["chains"][0]["id"]
    at = f"/chains/{chain}/versions/1/export"
    assert editor.get(at).getvalue() == FILE
    assert editor.get(at, scope="file").getvalue() == FILE
    assert b'"human"' in editor.get(at, to="neutral").getvalue()
    assert editor.get(at, to="nonsense").status_code == 422
    last = AuditRow.objects.filter(act="api:export", outcome="done").order_by("number").first()
    assert last is not None
    assert last.facts["bytes"] == len(FILE)


def test_the_export_lock_holds_for_programs(program: Callable[..., Program], team_mode: Team) -> None:
    editor = program()
    chain = editor.upload(FILE).json()["chains"][0]["id"]
    TeamRules.objects.update_or_create(team=team_mode, defaults={"locks_export": True})
    refused = editor.get(f"/chains/{chain}/versions/1/export")
    assert (refused.status_code, "not signed off" in refused.json()["error"]) == (403, True)


def test_a_token_never_exceeds_its_scopes_and_its_person(program: Callable[..., Program]) -> None:
    chain = program().upload(FILE).json()["chains"][0]["id"]
    writer, viewer, reader = program(scopes=("write",)), program(Role.VIEWER), program(scopes=("read",))
    assert writer.get("/chains").json()["error"] == "The token does not have the scope “read”."
    assert viewer.upload(FILE).json()["error"] == "Your role is viewer; this needs editor."
    assert reader.get(f"/chains/{chain}").status_code == 200
    assert reader.get(f"/chains/{chain}/versions/1/export").status_code == 403
    assert AuditRow.objects.latest("number").outcome == "refused"

    member = Membership.objects.get(user__first_name=viewer_name())
    Membership.objects.filter(pk=member.pk).update(role=Role.EDITOR)
    assert viewer.upload(FILE).status_code == 200, "a role counts at once"
    Membership.objects.filter(pk=member.pk).update(removed_at=member.joined_at)
    assert viewer.get("/chains").status_code == 401


def viewer_name() -> str:
    return str(Membership.objects.get(role=Role.VIEWER).user.first_name)


def test_another_teams_chain_is_not_there(program: Callable[..., Program]) -> None:
    chain = program().upload(FILE).json()["chains"][0]["id"]
    stranger = program(Role.OWNER, team=make_team("Elsewhere"))
    for path in ("", "/versions", "/versions/1/tree", "/versions/1/problems", "/versions/1/export", "/diff/1..1"):
        assert stranger.client.get(f"{V1}/chains/{chain}{path}").status_code == 404
    assert stranger.get(f"/compare/{chain}/{chain}").status_code == 404
    assert stranger.send(f"/chains/{chain}/operations/repair", {}).status_code == 404
    assert stranger.get("/chains").json()["chains"] == []
    assert stranger.upload(FILE).status_code == 201, "and nothing tells that another team has the file"


def test_a_token_opens_nothing_but_the_api(program: Callable[..., Program]) -> None:
    owner = program(Role.OWNER)
    for page in ("/", "/team/", "/account/tokens/"):
        assert owner.client.get(page).status_code == 302


def test_without_a_token_a_page_may_ask_and_forms_need_its_csrf_token(team_mode: Team) -> None:
    anonymous = Client(enforce_csrf_checks=True)
    for refused in (anonymous.get(f"{V1}/chains"), anonymous.post(f"{V1}/uploads", FILE, content_type="text/plain")):
        assert (refused.status_code, refused["WWW-Authenticate"]) == (401, "Bearer")
        assert refused.json()["error"] == "Send a token in the header “Authorization: Bearer …”."
    wrong = Client(headers={"Authorization": "Bearer cvz_unknown"})
    wrong.force_login(make_member(team_mode, "Lin", Role.OWNER).user)
    assert wrong.get(f"{V1}/chains").json()["error"] == "This token is unknown, expired or revoked."

    person = client_of(make_member(team_mode, "Ivo", Role.EDITOR))
    assert person.get(f"{V1}/chains").status_code == 200
    assert person.post(f"{V1}/uploads", FILE, content_type="application/octet-stream").status_code == 201
    person.handler.enforce_csrf_checks = True
    forged = person.post(f"{V1}/uploads", FILE, content_type="text/plain")
    assert (forged.status_code, set(forged.json())) == (403, {"error", "code", "where"})


def test_local_mode_writes_only_with_a_token(client: Client) -> None:
    make_chain(STORY)
    client.handler.enforce_csrf_checks = True
    assert client.get(f"{V1}/chains").status_code == 200
    assert client.post(f"{V1}/uploads", FILE, content_type="text/plain").status_code == 403


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("get", "/nowhere", 404), ("get", "/chains/99999", 404), ("put", "/chains", 405), ("get", "/uploads", 405)],
)
def test_every_refusal_is_json(program: Callable[..., Program], method: str, path: str, status: int) -> None:
    answer = getattr(program().client, method)(V1 + path)
    assert (answer.status_code, set(answer.json())) == (status, {"error", "code", "where"})


def test_a_fault_is_json_too(program: Callable[..., Program], monkeypatch: pytest.MonkeyPatch) -> None:
    editor = program()
    editor.client.raise_request_exception = False
    monkeypatch.setattr("chainviz.http_api.chains.chain_shape", lambda *given: 1 / 0)
    editor.upload(FILE)
    answer = editor.get("/chains")
    assert (answer.status_code, answer.json()["error"]) == (500, "chainviz made a mistake; its log says more.")


def test_the_description_names_every_call(client: Client) -> None:
    paths = client.get(f"{V1}/openapi.json").json()["paths"]
    page = client.get(f"{V1}/").content.decode()
    assert len(paths) > 15
    assert [path for path in paths if path.removeprefix(V1) not in page] == []
    assert "<script" not in page.partition("<main")[2]


def test_the_page_for_people_shows_code_as_code(client: Client) -> None:
    page = client.get(f"{V1}/").content.decode()
    assert "such as <code>react_log:text</code>; detected" in page and "`" not in page
