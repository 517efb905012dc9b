"""Share links: one version for whoever has the link, nothing else, until it ends."""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chainviz.accounts.models import AuditRow, Membership, Team
from chainviz.accounts.permissions import Role
from chainviz.chains.models import Chain, ShareLink
from chainviz.chains.shares.share_links import links_of, make_link
from chainviz.drafts.models import Draft
from tests.accounts.access_rows import addresses
from tests.accounts.conftest import team_mode  # noqa: F401
from tests.accounts.people import client_of, make_member, make_team
from tests.chains.making import ai, human, make_chain
from tests.drafts.pages import send_form

pytestmark = [pytest.mark.django_db, pytest.mark.database]
SECRET, LATER = "the code is 4711", "a later remark"


@pytest.fixture
def owner(team_mode: Team) -> Membership:  # noqa: F811
    return make_member(team_mode, "Lin", Role.OWNER)


@pytest.fixture
def chain(owner: Membership) -> Chain:
    """Version 1 says a secret, version 2 does not, version 3 says more."""
    made = make_chain([human(SECRET), ai("Noted.")], "depot-4711.json")
    client = client_of(owner)
    for number, text in ((1, "Nothing to see."), (2, LATER)):
        send_form(client, f"/c/{made.pk}/edit/s1.h.m0?v={number}", s1__h__m0__c0__text=text)
        client.post(f"/c/{made.pk}/d/{Draft.objects.latest('pk').pk}/save", {"note": "edited"})
    made.refresh_from_db()
    assert made.version == 3
    return made


def address_in(answer: Any) -> str:
    found = re.search(r"<code>https?://[^/]+(/s/[\w-]+/)</code>", answer.content.decode())
    assert found is not None
    return found[1]


def read(answer: Any) -> str:
    return str(answer.getvalue().decode())


def shared_by(owner: Membership, chain: Chain, version: int = 2) -> str:
    return address_in(client_of(owner).post(f"/c/{chain.pk}/share/", {"version": version, "days": "7"}))


def test_a_visitor_reads_that_version_and_no_other(owner: Membership, chain: Chain) -> None:
    answer = Client().get(shared_by(owner, chain))
    page = read(answer)
    assert answer.status_code == 200
    assert "Nothing to see." in page
    assert SECRET not in page
    assert LATER not in page
    assert f"Version 2, OpenAI Chat Completions. Shared by {owner.team.name} until" in page


def test_the_page_leads_nowhere_and_stays_in_no_cache(owner: Membership, chain: Chain) -> None:
    answer = Client().get(shared_by(owner, chain))
    page = read(answer)
    assert re.findall(r'(?:href|src|action)="([^"]*)"', page) == []
    assert (answer["Cache-Control"], answer["Referrer-Policy"]) == ("no-store", "no-referrer")
    assert "sandbox" in answer["Content-Security-Policy"]
    assert "script-src" not in answer["Content-Security-Policy"]
    assert not {"ETag", "Last-Modified", "Set-Cookie", "Content-Disposition"} & set(answer.headers)
    assert not answer.cookies


def test_every_other_address_takes_a_visitor_for_nobody(owner: Membership, chain: Chain) -> None:
    """The visitor has opened the link, and sends its token wherever an address or a header could take one."""
    address = shared_by(owner, chain)
    token = address.split("/")[2]
    visitor = Client(headers={"Authorization": f"Bearer {token}"})
    visitor.get(address)
    holes = {"chain_id": chain.pk, "number": 1, "before": 1, "after": 2, "token": token, "kind": "csv", "name": "repair"}
    wrong = []
    for name, route, _ in addresses():
        if name == "chains:shared":
            continue
        page = re.sub(r"<(?:\w+:)?(\w+)>", lambda hole: str(holes.get(hole[1], "1" if "id" in hole[1] else "s1.p1")), route)
        answer = visitor.get(page)
        body = answer.getvalue().decode(errors="replace")
        if answer.status_code == 200 and ("Noted." in body or chain.title in body):
            wrong.append(page)
        if "<int:chain_id>" in route and answer.status_code not in (301, 302, 401, 404, 405):
            wrong.append(page)
    assert wrong == []
    for below in ("at/s1", "rows", "find?q=code", "export", "raw/s1", "v/1/"):
        assert visitor.get(address + below).status_code == 404
    assert "HTTP" not in str(visitor.post(address).content)
    assert visitor.post(address).status_code == 405
    assert read(visitor.get(f"{address}?v=1")) == read(visitor.get(address)), "a query changes nothing"


def test_a_link_that_ended_looks_like_one_that_never_was(owner: Membership, chain: Chain) -> None:

    def shown(answer: Any) -> str:
        return read(answer).partition("<main")[2]

    unknown = Client().get("/s/unknown/")
    assert unknown.status_code == 404

    def ends_by(end: Any) -> bool:
        address = shared_by(owner, chain)
        assert Client().get(address).status_code == 200
        end(ShareLink.objects.latest("pk"))
        answer = Client().get(address)
        return (answer.status_code, shown(answer)) == (404, shown(unknown))

    client = client_of(owner)
    assert ends_by(lambda link: client.post(f"/c/{chain.pk}/share/{link.pk}/revoke/"))
    assert ends_by(lambda link: ShareLink.objects.filter(pk=link.pk).update(expires_at=timezone.now()))
    assert ends_by(lambda link: client.post("/bin/add/", {"chain": chain.pk}))
    Chain.objects.update(trashed_at=None)
    make_member(owner.team, "Ada", Role.OWNER)
    assert ends_by(lambda link: client.post(f"/team/members/{owner.pk}/", {"act": "remove"}))


def test_only_a_digest_is_stored_and_the_token_is_in_no_log(owner: Membership, chain: Chain, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    address = shared_by(owner, chain)
    token = address.split("/")[2]
    assert len(token) * 6 >= 128
    Client().get(address)
    Client().post(address)
    client_of(owner).post(f"/c/{chain.pk}/share/{ShareLink.objects.get().pk}/revoke/")
    assert Client().get(address).status_code == 404
    said = [record.getMessage() for record in caplog.records if record.name != "django.db.backends"]
    assert said
    assert [text for text in said if token in text] == []
    assert token not in str(list(ShareLink.objects.values())) + str(list(AuditRow.objects.values()))


def test_making_opening_and_revoking_are_recorded(owner: Membership, chain: Chain) -> None:
    before = AuditRow.objects.count()
    address = shared_by(owner, chain)
    link = ShareLink.objects.get()
    for _ in range(3):
        Client().get(address)
    client_of(owner).post(f"/c/{chain.pk}/share/{link.pk}/revoke/")
    rows = AuditRow.objects.order_by("number")[before:]
    assert [(row.act, row.who_name.partition(" ")[0], row.chain_key) for row in rows] == [
        ("chains:share", "Lin", chain.pk),
        ("chains:shared", "", chain.pk),
        ("chains:revoke_share", "Lin", chain.pk),
    ]
    link.refresh_from_db()
    assert link.opened == 3
    ShareLink.objects.update(last_opened_at=timezone.now() - timedelta(minutes=2), revoked_at=None)
    Client().get(address)
    assert AuditRow.objects.latest("number").act == "chains:shared"


def test_owners_list_links_and_nobody_else_makes_one(owner: Membership, chain: Chain) -> None:
    shared_by(owner, chain)
    for page in ("/team/shares/", f"/c/{chain.pk}/share/?v=1"):
        text = client_of(owner).get(page).content.decode()
        assert chain.title in text
        assert "created by Lin" in text
    editor = client_of(make_member(owner.team, "Ivo", Role.EDITOR))
    assert editor.get("/team/shares/").status_code == 403
    assert editor.post(f"/c/{chain.pk}/share/", {"version": 1, "days": "7"}).status_code == 403
    stranger = make_member(make_team("Elsewhere"), "Eve", Role.OWNER)
    assert client_of(stranger).post(f"/c/{chain.pk}/share/{ShareLink.objects.get().pk}/revoke/").status_code == 404
    assert not links_of(stranger).exists()


@pytest.mark.parametrize("form", [{"version": "9"}, {"version": "x"}, {"version": ""}, {"days": "9999"}])
def test_a_form_that_cannot_be_makes_no_link(owner: Membership, chain: Chain, form: dict[str, str]) -> None:
    answer = client_of(owner).post(f"/c/{chain.pk}/share/", {"version": "2", "days": "7", **form})
    assert (answer.status_code, "field-error" in answer.content.decode()) == (422, True)
    assert not ShareLink.objects.exists()


def test_secrets_are_shared_only_when_somebody_confirms_it(owner: Membership, chain: Chain) -> None:
    """And never where a rule of the team forbids it."""
    from chainviz.review.models import TeamRules

    client = client_of(owner)
    leaky = make_chain([human("Write to ada.lovelace@analytical-engine.org."), ai("Done.")])
    form = {"version": 1, "days": "7"}
    assert "1 possible secret in it" in client.get(f"/c/{leaky.pk}/share/").content.decode()
    refused = client.post(f"/c/{leaky.pk}/share/", form)
    assert (refused.status_code, "or tick that they are not secrets" in refused.content.decode()) == (422, True)
    assert not ShareLink.objects.exists()
    address_in(client.post(f"/c/{leaky.pk}/share/", {**form, "confirmed": "on"}))
    assert "confirmed" in str(AuditRow.objects.latest("number").facts)
    TeamRules.objects.update_or_create(team=owner.team, defaults={"no_secrets": True})
    refused = client.post(f"/c/{leaky.pk}/share/", {**form, "confirmed": "on"})
    assert (refused.status_code, "A rule of the team forbids" in refused.content.decode()) == (422, True)
    assert shared_by(owner, chain), "a version without secrets"


def test_a_long_version_is_scanned_before_it_is_shared(owner: Membership, chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chainviz.chains.secrets.findings.AT_ONCE", 10)
    client = client_of(owner)
    assert f"/c/{chain.pk}/v/2/export" in client.get(f"/c/{chain.pk}/share/?v=2").content.decode()
    assert client.post(f"/c/{chain.pk}/share/", {"version": 2, "days": "7"}).status_code == 422
    assert not ShareLink.objects.exists()


def test_the_export_lock_holds_for_links(owner: Membership, chain: Chain) -> None:
    from chainviz.review.models import TeamRules

    address = shared_by(owner, chain)
    TeamRules.objects.update_or_create(team=owner.team, defaults={"locks_export": True})
    assert Client().get(address).status_code == 404
    refused = client_of(owner).post(f"/c/{chain.pk}/share/", {"version": 2, "days": "7"})
    assert (refused.status_code, "not signed off" in refused.content.decode()) == (403, True)


def test_deleting_a_chain_for_good_ends_its_links(owner: Membership, chain: Chain) -> None:
    _, token = make_link(chain, 2, owner, 7)
    client = client_of(owner)
    client.post("/bin/add/", {"chain": chain.pk})
    client.post(f"/bin/{chain.pk}/delete/", {"title": chain.title})
    assert not ShareLink.objects.exists()
    assert Client().get(reverse("chains:shared", args=[token])).status_code == 404
