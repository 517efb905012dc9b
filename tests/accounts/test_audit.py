"""The audit log of team mode: what is recorded, that it cannot be changed unseen, and how it is read."""

from __future__ import annotations

import csv
import errno
import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client

from chainviz.accounts.audit import check_all, first_fault, record
from chainviz.accounts.audit_listing import csv_lines, entry_of
from chainviz.accounts.members import create_owner, set_password
from chainviz.accounts.models import AuditRow, Team
from chainviz.accounts.permissions import Role
from chainviz.accounts.tokens import create_token
from chainviz.chains.models import Arrival, Chain
from chainviz.drafts.models import Draft
from chainviz.purge.jobs import start_purge
from chainviz.store.checksums import EVENTS
from chainviz.store.models import Purge
from tests.accounts.people import PASSWORD, client_of, make_member, make_team
from tests.chains.files import lines, send
from tests.chains.making import STORY, make_chain
from tests.drafts.pages import send_form

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def rows() -> list[tuple[str, str, str, dict[str, Any]]]:
    """Without those of chains that came into the library."""
    found = AuditRow.objects.exclude(act="added").order_by("number")
    return [(row.act, row.outcome, row.who_name.partition(" ")[0], row.facts) for row in found]


def test_writes_exports_and_refused_access_are_recorded_with_the_person(team_mode: Team) -> None:
    lin, ivo, sam = (make_member(team_mode, name, role) for name, role in (("Lin", Role.OWNER), ("Ivo", Role.EDITOR), ("Sam", Role.VIEWER)))
    owner, editor, viewer = map(client_of, (lin, ivo, sam))
    send(editor, ("story.json", json.dumps(STORY).encode()))
    chain = f"/c/{Chain.objects.get().pk}"
    send_form(editor, f"{chain}/repair/?v=1")
    draft = Draft.objects.get().pk
    editor.post(f"{chain}/d/{draft}/save", {"note": "repaired"})
    viewer.get(f"{chain}/v/2/")
    sent = viewer.get(f"{chain}/v/2/export?scope=chain").getvalue()
    viewer.post(f"{chain}/rename/", {"title": "Mine"})
    owner.post(f"/team/members/{sam.pk}/", {"role": "commenter"})

    assert rows() == [
        ("chains:upload", "done", "Ivo", {}),
        ("drafts:repair", "done", "Ivo", {}),
        ("drafts:save", "done", "Ivo", {"draft_id": draft, "version": 2}),
        ("chains:export", "begun", "Sam", {"number": 2}),
        ("chains:export", "done", "Sam", {"number": 2, "sha256": sha256(sent).hexdigest(), "bytes": len(sent)}),
        ("chains:rename", "refused", "Sam", {}),
        ("accounts:member", "done", "Lin", {"member_id": sam.pk, "member": "Sam", "role": "commenter"}),
    ]
    assert AuditRow.objects.get(act="added").chain_key == Chain.objects.get().pk
    assert first_fault(Team.objects.get()) == ""


def test_rows_name_the_chains_that_a_form_or_a_file_is_about(team_mode: Team) -> None:
    editor = client_of(make_member(team_mode, "Ivo", Role.EDITOR))
    send(editor, ("many.jsonl", lines(2)))
    arrival = Arrival.objects.get()
    editor.post(f"/pick/{arrival.pk}/", {"pick": [row["key"] for row in arrival.found]})
    one, other = Chain.objects.order_by("pk").values_list("pk", flat=True)
    added = AuditRow.objects.filter(act="added").order_by("number")
    assert list(added.values_list("chain_key", flat=True)) == [one, other]

    editor.post("/bin/add/", {"chain": [one, other]})
    editor.post("/bin/restore/", {"only": one})
    assert [(act, facts) for act, _, _, facts in rows()[-2:]] == [
        ("chains:to_bin", {"chains": [one, other]}), ("chains:from_bin", {"chains": [one]}),
    ]  # fmt: skip


def test_a_call_of_the_api_is_recorded_with_its_token(team_mode: Team) -> None:
    row, token = create_token(make_member(team_mode, "Ivo", Role.EDITOR), "CI", ["read", "write"], 30)
    chain = make_chain(STORY)
    headers = {"Authorization": f"Bearer {token}"}
    path = f"/api/v1/chains/{chain.pk}/versions/1/labels"
    Client(headers=headers).post(path, {"kind": "tag", "value": "seen"}, content_type="application/json")
    Client(headers=headers).get(f"/api/v1/chains/{chain.pk}/versions/1/export")
    assert [(act, outcome, facts["token"]) for act, outcome, _, facts in rows()] == [
        ("api:set_label", "done", row.pk), ("api:export", "refused", row.pk),
    ]  # fmt: skip


@pytest.mark.parametrize("address", ["/certificates/7/", "/sign-offs/7/", "/bulk/7/", "/api/v1/jobs/7", "/upload/7/original"])
def test_whatever_another_team_has_is_recorded_as_not_found(team_mode: Team, address: str) -> None:
    editor = client_of(make_member(team_mode, "Ivo", Role.EDITOR))
    assert editor.get(address).status_code == 404
    assert [(row[1], list(row[3].values())) for row in rows()] == [("not found", [7])]
    editor.get("/recipes/nothing/")
    assert len(rows()) == 1


def test_signing_in_is_recorded_and_another_teams_chain_is_not_found(team_mode: Team, client: Client) -> None:
    chain = make_chain(STORY)
    make_member(make_team("Elsewhere"), "Eve", Role.OWNER)
    client.post("/sign-in/", {"email": "eve@example.org", "password": PASSWORD})
    client.get(f"/c/{chain.pk}/versions/")
    assert [row[:3] for row in rows()] == [("accounts:sign_in", "done", "Eve"), ("chains:versions", "not found", "Eve")]


def test_what_a_removed_member_asks_for_is_recorded_as_refused(team_mode: Team) -> None:
    """The refusal is in the log of the team that removed them; repeated requests of an open page are not."""
    chain, owner = make_chain(STORY), client_of(make_member(team_mode, "Lin", Role.OWNER))
    ivo = make_member(team_mode, "Ivo", Role.EDITOR)
    former = client_of(ivo)
    owner.post(f"/team/members/{ivo.pk}/", {"act": "remove"})

    for _ in range(2):
        assert former.get(f"/c/{chain.pk}/versions/").status_code == 404
    assert former.post(f"/c/{chain.pk}/rename/", {"title": "Mine"}).status_code == 404
    assert former.get("/account/").status_code == 200
    assert former.get("/nothing/").status_code == 404

    refused = AuditRow.objects.filter(team=team_mode, who=ivo.user, outcome="refused").order_by("number")
    assert list(refused.values_list("act", "chain_key")) == [("chains:versions", chain.pk), ("chains:rename", chain.pk)]
    assert first_fault(Team.objects.get(pk=team_mode.pk)) == ""


def test_a_number_that_no_chain_can_have_is_not_found(team_mode: Team) -> None:
    viewer = client_of(make_member(team_mode, "Sam", Role.VIEWER))
    assert viewer.get(f"/c/{10**30}/versions/").status_code == 404
    assert AuditRow.objects.get().chain_key is None


def test_download_that_cannot_be_recorded_sends_nothing(team_mode: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    viewer = client_of(make_member(team_mode, "Sam", Role.VIEWER))
    viewer.raise_request_exception = False
    chain = make_chain(STORY)
    monkeypatch.setattr("chainviz.accounts.audit.record", raise_full)
    answer = viewer.get(f"/c/{chain.pk}/v/1/export?scope=chain")
    assert answer.status_code == 507
    assert STORY[0]["content"] not in answer.content.decode()
    assert "Content-Disposition" not in answer.headers


def raise_full(*row: object, **facts: object) -> None:
    raise OSError(errno.ENOSPC, "full")


def test_download_whose_end_cannot_be_recorded_has_the_row_of_its_beginning(team_mode: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    viewer = client_of(make_member(team_mode, "Sam", Role.VIEWER))
    chain = make_chain(STORY)
    answer = viewer.get(f"/c/{chain.pk}/v/1/export?scope=chain")
    monkeypatch.setattr("chainviz.accounts.audit.record", raise_full)
    with pytest.raises(OSError, match="full"):
        answer.getvalue()
    assert rows() == [("chains:export", "begun", "Sam", {"number": 1})]


def test_an_incomplete_download_is_recorded(team_mode: Team) -> None:
    viewer = client_of(make_member(team_mode, "Sam", Role.VIEWER))
    chain = make_chain(STORY)
    answer = viewer.get(f"/c/{chain.pk}/v/1/export?scope=html")
    first = next(iter(answer.streaming_content))
    answer._iterator.close()  # as a server does whose client went away, with the database still open
    assert rows()[-1][3] == {
        "number": 1, "sha256": sha256(first).hexdigest(), "bytes": len(first), "incomplete": True,
    }  # fmt: skip


def test_failed_sign_ins_and_commands_on_the_server_are_recorded(team_mode: Team, client: Client) -> None:
    make_member(team_mode, "Lin", Role.OWNER)
    for email in ("lin@example.org", "nobody@example.org"):
        client.post("/sign-in/", {"email": email, "password": "not the password"})
    create_owner("ada@example.org", "Ada", "a long enough secret")
    set_password("lin@example.org", "another long password")
    assert [(act, outcome, facts["account"]) for act, outcome, _, facts in rows()] == [
        ("accounts:sign_in", "refused", "lin@example.org"),
        ("createowner", "done", "ada@example.org"),
        ("changepassword", "done", "lin@example.org"),
    ]


@pytest.mark.django_db(transaction=True)
def test_a_purge_is_recorded_when_it_is_carried_out(team_mode: Team) -> None:
    chain = make_chain(STORY)
    owner = make_member(team_mode, "Lin", Role.OWNER)
    start_purge(chain, STORY[1]["content"], "", (), by=owner.user)
    assert [(row[0], row[2], row[3]["values"]) for row in rows()] == [("purged", "Lin", 1)]


def test_a_change_whose_row_cannot_be_written_does_not_happen(team_mode: Team, monkeypatch: Any) -> None:
    owner = client_of(make_member(team_mode, "Lin", Role.OWNER))
    owner.raise_request_exception = False
    sam = make_member(team_mode, "Sam", Role.VIEWER)
    monkeypatch.setattr("chainviz.accounts.audit.digest_of", lambda row: None)
    assert owner.post(f"/team/members/{sam.pk}/", {"role": "owner"}).status_code == 500
    sam.refresh_from_db()
    assert (sam.role, rows()) == (Role.VIEWER, [])


def test_local_mode_records_nothing(client: Client) -> None:
    chain = make_chain(STORY)
    client.post(f"/c/{chain.pk}/rename/", {"title": "Mine"})
    assert rows() == []


@pytest.fixture
def log(team_mode: Team) -> Team:
    """Four rows."""
    member = make_member(team_mode, "Lin", Role.OWNER)
    for number in range(4):
        record(team_mode, member.user, "purge", chain=number, places=number)
    return Team.objects.get(pk=team_mode.pk)


def tamper(change: Callable[[], object]) -> None:
    """Does what the triggers refuse, as somebody who holds the database file could."""
    with transaction.atomic():
        guard = Purge.objects.create(reason="test")
        change()
        guard.delete()


def test_the_database_refuses_to_change_a_row(log: Team) -> None:
    for change in (lambda: AuditRow.objects.update(who_name="Eve"), lambda: AuditRow.objects.all().delete()):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            change()


@pytest.mark.parametrize("column", ["at", "who", "who_name", "act", "outcome", "chain_key", "details", "previous", "digest"])
def test_a_changed_column_is_found(log: Team, column: str) -> None:
    newer = {"at": log.audit_rows.get(number=4).at, "who": None, "chain_key": 99}
    tamper(lambda: log.audit_rows.filter(number=2).update(**{column: newer.get(column, "changed")}))
    assert first_fault(log) == "row 2 was changed."
    assert [finding.severity for finding in check_all()] == ["error"]


@pytest.mark.parametrize(("number", "fault"), [(2, "row 2 is missing."), (4, "it ends at row 3, but the last row written is 4.")])
def test_a_deleted_row_is_found(log: Team, number: int, fault: str) -> None:
    tamper(lambda: log.audit_rows.filter(number=number).delete())
    assert first_fault(log) == fault


COLUMNS = "team_id, at, who_id, who_name, act, outcome, chain_key, details, previous, digest"
COPY = f"INSERT INTO accounts_auditrow ({COLUMNS}, number) SELECT {COLUMNS}, {{}} FROM accounts_auditrow WHERE number = {{}}"
FALSIFICATIONS = {
    "flips a byte": (["UPDATE accounts_auditrow SET details = '{\"places\": 8}' WHERE number = 2"], "row 2 was changed."),
    "names somebody else": (["UPDATE accounts_auditrow SET who_name = 'Eve <e@x>', who_id = NULL WHERE number = 3"], "row 3 was changed."),
    "deletes the first": (["DELETE FROM accounts_auditrow WHERE number = 1"], "row 1 is missing."),
    "deletes the last": (["DELETE FROM accounts_auditrow WHERE number = 4"], "it ends at row 3, but the last row written is 4."),
    "deletes one and closes the gap": (
        ["DELETE FROM accounts_auditrow WHERE number = 2", "UPDATE accounts_auditrow SET number = number + 10 WHERE number > 2",
         "UPDATE accounts_auditrow SET number = number - 11 WHERE number > 10"], "row 2 was changed.",
    ),
    "deletes all": (["DELETE FROM accounts_auditrow"], "it ends at row 0, but the last row written is 4."),
    "swaps two": (
        [f"UPDATE accounts_auditrow SET number = {to} WHERE number = {number}" for number, to in ((2, 9), (3, 2), (9, 3))],
        "row 2 was changed.",
    ),
    "appends a copy": ([COPY.format(5, 4)], "row 5 was changed."),
    "moves the end": (
        ["DELETE FROM accounts_auditrow WHERE number = 4", "UPDATE accounts_team SET audit_number = 3"],
        "it ends at row 3, whose digest is not that of the last row written.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSIFICATIONS)
def test_what_sql_falsifies_is_refused_or_found(log: Team, name: str) -> None:
    """First with the triggers, then by somebody who has dropped them."""
    statements, fault = FALSIFICATIONS[name]
    if not statements[0].startswith("INSERT"):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            execute(statements)
    assert first_fault(log) == ""
    if connection.vendor == "postgresql":
        execute(["SET CONSTRAINTS ALL IMMEDIATE", "ALTER TABLE accounts_auditrow DISABLE TRIGGER append_only"])
    else:
        execute([f"DROP TRIGGER accounts_auditrow_no_{event}" for event in EVENTS])
    execute(statements)
    log.refresh_from_db()
    assert first_fault(log) == fault
    assert [finding.severity for finding in check_all()] == ["error"]


@pytest.mark.parametrize("value", ["'gone'", "x'ff00'", "7"])
def test_a_row_that_cannot_be_read_is_a_finding_and_no_crash(log: Team, value: str) -> None:
    if connection.vendor == "postgresql":
        pytest.skip("PostgreSQL takes no value of another type")
    execute(["DROP TRIGGER accounts_auditrow_no_update", f"UPDATE accounts_auditrow SET at = {value} WHERE number = 2"])
    assert first_fault(log).startswith("a row cannot be read")
    assert [finding.severity for finding in check_all()] == ["error"]


def execute(statements: list[str]) -> None:
    with connection.cursor() as cursor:
        for each in statements:
            cursor.execute(each)


def test_an_owner_reads_filters_and_exports_the_log(log: Team) -> None:
    record(log, None, "chains:export", chain=9)
    client = client_of(log.memberships.get(user__first_name="Lin"))
    page = client.get("/team/audit/?check=1").content.decode()
    assert "The log is intact." in page
    assert page.count('id="row-') == 5
    assert client.get("/team/audit/?act=purge&since=2020-01-01&before=3").content.decode().count('id="row-') == 2

    exported = client.get("/team/audit/audit.csv?act=purge").getvalue().decode()
    assert [line["number"] for line in csv.DictReader(exported.splitlines())] == ["1", "2", "3", "4"]
    lines = client.get("/team/audit/audit.jsonl").getvalue().decode().splitlines()
    assert [json.loads(line)["number"] for line in lines] == [*range(1, 9)], "the first export is in the log, and that this one began"
    assert rows()[-1][3]["sha256"] == sha256("\n".join([*lines, ""]).encode()).hexdigest()


def test_acts_with_one_name_are_one_choice_of_the_filter(log: Team) -> None:
    for act in ("recipes:recipe", "recipes:step", "chains:audit"):
        record(log, None, act)
    client = client_of(log.memberships.get(user__first_name="Lin"))
    page = client.get("/team/audit/").content.decode()
    assert page.count(">Recipe changed</option>") == 1
    assert client.get("/team/audit/?act=recipes:recipe").content.decode().count('id="row-') == 2
    assert client.get("/team/audit/?act=recipes:step").content.decode().count('id="row-') == 2
    assert "csv; charset=utf-8" in client.get("/team/audit/audit.csv")["Content-Type"]


def test_a_name_that_is_a_formula_stays_text_in_a_spreadsheet(log: Team) -> None:
    user = log.memberships.get(user__first_name="Lin").user
    user.first_name = "=HYPERLINK(1)"
    record(log, user, "purge")
    assert "'=HYPERLINK(1)" in "".join(csv_lines(log.audit_rows.all()))


@pytest.mark.parametrize(
    ("recorded", "shown"),
    [
        ("Lin Castro <lin@x>", ("Lin Castro", "lin@x", "LC")),
        ("A <b> <lin@x>", ("A <b>", "lin@x", "A<")),
        ("Lin", ("Lin", "", "L")),
        ("", ("", "", "")),
    ],
)
def test_a_row_tells_name_and_address_of_its_person(recorded: str, shown: tuple[str, str, str]) -> None:
    entry = entry_of(AuditRow(who_name=recorded, act="purge", details="{}"))
    assert (entry.name, entry.email, entry.initials) == shown


def test_rows_are_found_by_chain_and_by_digest_of_row_or_file(log: Team) -> None:
    record(log, None, "chains:export", chain=9, sha256="9c41e7b0" * 8, bytes=1)
    client = client_of(log.memberships.get(user__first_name="Lin"))
    second = log.audit_rows.get(number=2)
    for asked, found in (("9", 5), ("chain 9", 5), ("9C41E7", 5), (second.digest[:12], 2), (second.digest, 2)):
        page = client.get("/team/audit/", {"q": asked}).content.decode()
        assert f'id="row-{found}"' in page, asked
    page = client.get("/team/audit/", {"q": second.digest, "check": 1}).content.decode()
    assert page.count('id="row-') == 1
    assert f"?q={second.digest}&amp;check=1" in page
    assert f"<code>{second.previous}</code>" in page
    assert "No entry matches." in client.get("/team/audit/", {"q": "%"}).content.decode()
