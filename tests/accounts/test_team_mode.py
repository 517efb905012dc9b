"""Accounts, invitations and members of team mode."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from chainviz.accounts import views as sign_in_views
from chainviz.accounts.members import create_owner, set_password
from chainviz.accounts.models import Invitation, Membership, SignInAttempt, Team, User, local_owner
from chainviz.accounts.permissions import Role
from chainviz.accounts.tokens import create_token, find_token
from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.review.fsck import fsck_review
from chainviz.review.labels import LabelChoice, set_label
from chainviz.review.models import Comment, Label, Thread
from chainviz.review.threads.writing import NewThread, begin, set_resolved
from chainviz.store.models import Upload
from tests.accounts.people import PASSWORD, client_of, make_member, make_team, make_user
from tests.chains.files import send
from tests.chains.making import STORY, make_chain
from tests.drafts.pages import send_form

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def sign_in(client: Client, email: str, password: str = PASSWORD, **more: Any) -> Any:
    return client.post("/sign-in/", {"email": email, "password": password}, **more)


def test_a_page_asks_to_sign_in_and_opens_afterwards(team_mode: Team, client: Client) -> None:
    lin = make_member(team_mode, "Lin", Role.OWNER)
    asked = client.get("/bin/?page=2")
    assert (asked.status_code, asked["Location"]) == (302, "/sign-in/?next=%2Fbin%2F%3Fpage%3D2")

    answer = client.post(asked["Location"], {"email": "LIN@example.org", "password": PASSWORD})

    assert (answer.status_code, answer["Location"]) == (303, "/bin/?page=2")
    assert client.get("/").wsgi_request.user == lin.user


def test_a_fragment_sends_the_whole_page_to_sign_in(team_mode: Team, client: Client) -> None:
    answer = client.get("/", headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Redirect"]) == (401, "/sign-in/")


@pytest.mark.parametrize(
    ("page", "next_page"), [("http://testserver/c/7/v/1/at/s1.p1", "?next=%2Fc%2F7%2Fv%2F1%2Fat%2Fs1.p1"), ("https://evil.example/", "")]
)
def test_who_signs_in_again_comes_back_to_the_page_of_the_form(team_mode: Team, client: Client, page: str, next_page: str) -> None:
    answer = client.post("/c/7/edit/s1.p1", {"text": "typed"}, headers={"HX-Request": "true", "HX-Current-URL": page})
    assert (answer.status_code, answer["HX-Redirect"]) == (401, f"/sign-in/{next_page}")


@pytest.mark.parametrize(
    "page", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "a\x91b", "accounts:sign_out"]
)
def test_signing_in_leads_to_a_page_of_this_site(team_mode: Team, client: Client, page: str) -> None:
    make_member(team_mode, "Lin", Role.OWNER)
    assert sign_in(client, "lin@example.org", query_params={"next": page})["Location"] == "/"
    assert client.get("/sign-in/", {"next": page})["Location"] == "/", "who is signed in already"


def test_a_wrong_password_and_an_unknown_address_get_the_same_answer(team_mode: Team, client: Client) -> None:
    make_member(team_mode, "Lin", Role.OWNER)
    for email in ("lin@example.org", "nobody@example.org"):
        answer = sign_in(client, email, "wrong")
        assert answer.status_code == 422
        assert "E-mail or password is wrong." in answer.content.decode()


def test_guessing_is_throttled_for_the_account_and_for_the_client(team_mode: Team, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make_member(team_mode, "Lin", Role.OWNER)
    monkeypatch.setattr(sign_in_views, "LIMITS", {"account": 2, "client": 4})
    for _ in range(2):
        assert sign_in(client, "lin@example.org", "wrong").status_code == 422

    refused = sign_in(client, "lin@example.org")
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= sign_in_views.WINDOW.total_seconds()
    assert sign_in(client, "lin@example.org", REMOTE_ADDR="10.0.0.9").status_code == 429, "another client, same account"

    for _ in range(2):
        sign_in(client, "other@example.org", "wrong")
    assert sign_in(client, "third@example.org", "wrong").status_code == 429, "another account, same client"


def test_a_right_password_ends_the_count_of_the_account(team_mode: Team, client: Client) -> None:
    make_member(team_mode, "Lin", Role.OWNER)
    sign_in(client, "lin@example.org", "wrong")
    sign_in(client, "lin@example.org")
    assert not SignInAttempt.objects.filter(key="account:lin@example.org").exists()


def test_a_new_password_ends_all_other_sessions(team_mode: Team) -> None:
    lin = make_member(team_mode, "Lin", Role.OWNER)
    here, elsewhere = client_of(lin), client_of(lin)
    assert here.post("/account/", {"current_password": "wrong", "new_password": "another long password"}).status_code == 422
    assert here.post("/account/", {"current_password": PASSWORD, "new_password": "short"}).status_code == 422

    assert here.post("/account/", {"current_password": PASSWORD, "new_password": "another long password"}).status_code == 303

    assert here.get("/").status_code == 200
    assert elsewhere.get("/").status_code == 302


def link_in(answer: Any) -> str:
    return "/join/" + answer.content.decode().partition("/join/")[2].partition("<")[0]


def test_an_invitation_makes_one_member(team_mode: Team, client: Client) -> None:
    owner = client_of(make_member(team_mode, "Lin", Role.OWNER))
    link = link_in(owner.post("/team/invitations/", {"email": "Ivo@example.org", "role": "editor"}))
    assert link.removeprefix("/join/") not in str(list(Invitation.objects.values())), "only a digest is stored"
    assert client.post(link, {"name": "Ivo", "password": "short"}).status_code == 422

    assert client.post(link, {"name": "Ivo Marin", "password": PASSWORD}).status_code == 303

    ivo = Membership.objects.get(user__username="ivo@example.org")
    assert (ivo.team, ivo.role, ivo.user.display_name) == (team_mode, Role.EDITOR, "Ivo Marin")
    assert client.get("/").wsgi_request.user == ivo.user
    assert Client().get(link).status_code == 404, "it works once"


def test_a_revoked_or_replaced_invitation_is_not_there(team_mode: Team, client: Client) -> None:
    owner = client_of(make_member(team_mode, "Lin", Role.OWNER))
    first = link_in(owner.post("/team/invitations/", {"email": "ivo@example.org", "role": "viewer"}))
    second = link_in(owner.post("/team/invitations/", {"email": "ivo@example.org", "role": "viewer"}))
    assert [client.get(link).status_code for link in (first, second)] == [404, 200]
    owner.post(f"/team/invitations/{Invitation.objects.latest('pk').pk}/revoke/")
    assert client.get(second).status_code == 404


def test_an_invitation_for_an_account_is_accepted_by_its_person_only(team_mode: Team, client: Client) -> None:
    ada = make_member(make_team("Elsewhere"), "Ada", Role.OWNER)
    owner = client_of(make_member(team_mode, "Lin", Role.OWNER))
    link = link_in(owner.post("/team/invitations/", {"email": "ada@example.org", "role": "viewer"}))

    assert client.post(link, {"name": "Not Ada", "password": PASSWORD}).status_code == 422
    assert User.objects.get(username="ada@example.org").first_name == "Ada"
    assert owner.post(link).status_code == 422
    assert client_of(ada).post(link).status_code == 303
    assert Membership.objects.filter(user=ada.user).count() == 2


def test_a_person_in_two_teams_sees_one_at_a_time(team_mode: Team) -> None:
    chain = make_chain(STORY)
    elsewhere = make_team("Elsewhere")
    ada = make_member(elsewhere, "Ada", Role.OWNER)
    Membership.objects.create(team=team_mode, user=ada.user, role=Role.VIEWER)
    client = client_of(ada)
    assert client.get(f"/c/{chain.pk}/versions/").status_code == 404

    assert client.post("/account/team/", {"team": team_mode.pk}).status_code == 303

    assert client.get(f"/c/{chain.pk}/versions/").status_code == 200
    assert client.post("/account/team/", {"team": make_team("Third").pk}).status_code == 404


def test_removing_a_member_deletes_nothing_and_ends_their_access(team_mode: Team) -> None:
    chain = make_chain(STORY)
    owner, editor = make_member(team_mode, "Lin", Role.OWNER), make_member(team_mode, "Ivo", Role.EDITOR)
    Chain.objects.update(owner=editor.user)
    _, token = create_token(editor, "Nightly upload", ["read"], 30)
    client = client_of(editor)
    assert client.get(f"/c/{chain.pk}/versions/").status_code == 200

    client_of(owner).post(f"/team/members/{editor.pk}/", {"act": "remove"})

    assert Chain.objects.get().owner == editor.user
    assert client.get(f"/c/{chain.pk}/versions/").status_code == 404
    page = client.get("/")
    assert page.status_code == 404 and "You are in no team" in page.content.decode()
    assert "You are in no team" in client.get("/account/").content.decode()
    Membership.objects.filter(pk=editor.pk).update(removed_at=None)
    assert client.get(f"/c/{chain.pk}/versions/").status_code == 200
    assert find_token(token) is None, "who comes back makes new ones"


def test_a_team_keeps_an_owner(team_mode: Team) -> None:
    Membership.objects.all().delete()
    lin = make_member(team_mode, "Lin", Role.OWNER)
    client = client_of(lin)
    for form in ({"act": "remove"}, {"role": "viewer"}):
        answer = client.post(f"/team/members/{lin.pk}/", form)
        assert answer.status_code == 422
        assert "keeps at least one owner" in answer.content.decode()
    make_member(team_mode, "Ada", Role.OWNER)
    assert client.post(f"/team/members/{lin.pk}/", {"role": "viewer"}).status_code == 303


def test_two_teams_upload_the_same_file_without_learning_of_each_other(team_mode: Team) -> None:
    people = [make_member(team_mode, "Ivo", Role.EDITOR), make_member(make_team("Elsewhere"), "Sam", Role.EDITOR)]
    answers = [send(client_of(each), ("story.json", json.dumps(STORY).encode())) for each in people]

    assert [answer.status_code for answer in answers] == [303, 303]
    assert answers[0]["Location"] != answers[1]["Location"]
    assert sorted(Upload.objects.values_list("owner", flat=True)) == sorted(each.team.store_name for each in people)
    assert send(client_of(people[0]), ("again.json", json.dumps(STORY).encode()))["Location"] == answers[0]["Location"]


def test_the_owner_of_local_mode_becomes_the_first_account(team_mode: Team, client: Client) -> None:
    chain = make_chain(STORY)
    comment = begin(chain, local_owner(), NewThread(1, Thread.Kind.CHAIN), "So it is.")
    set_resolved(comment.thread, local_owner(), True)
    set_label(chain, LabelChoice(1, "", "tag", "good"), by=local_owner())
    assert comment.author_name == "You"

    member = create_owner("Lin@example.org", "Lin Castro", PASSWORD, "Northfell support")

    assert sign_in(client, "lin@example.org").status_code == 303
    assert client.get(f"/c/{chain.pk}/versions/").status_code == 200
    assert (member.team, member.team.name, member.team.store_name) == (team_mode, "Northfell support", team_mode.store_name)
    assert (User.objects.count(), Team.objects.count()) == (1, 1)
    assert (Comment.objects.get().author_name, Label.objects.get().person_name) == ("Lin Castro", "Lin Castro")
    assert Thread.objects.get().resolved_by_name == "Lin Castro"
    assert not list(fsck_review())
    other = create_owner("ada@example.org", "Ada", PASSWORD, "Another team")
    assert (other.team.name, Team.objects.count()) == ("Another team", 2)


@pytest.mark.parametrize(("email", "password"), [("no address", PASSWORD), ("lin@example.org", "short")])
def test_an_owner_needs_an_address_and_a_password(team_mode: Team, email: str, password: str) -> None:
    with pytest.raises(ValidationError):
        create_owner(email, "Lin", password)
    assert not User.objects.get().has_usable_password()


def test_a_forgotten_password_is_set_on_the_server(team_mode: Team, client: Client) -> None:
    elsewhere = client_of(make_member(team_mode, "Lin", Role.OWNER))
    set_password("LIN@example.org", "another long password")
    assert elsewhere.get("/").status_code == 302
    assert sign_in(client, "lin@example.org", "another long password").status_code == 303
    with pytest.raises(ValidationError, match="There is no account"):
        set_password("nobody@example.org", PASSWORD)


def test_a_page_offers_only_what_the_role_allows(team_mode: Team) -> None:
    chain = make_chain(STORY)
    offered = {}
    for role in (Role.VIEWER, Role.EDITOR, Role.OWNER):
        client = client_of(make_member(team_mode, role.label, role))
        pages = "".join(client.get(page).content.decode() for page in ("/", f"/c/{chain.pk}/v/1/", f"/c/{chain.pk}/versions/"))
        offers = ("Upload<", "Fix [0-9]+ problem", "Rename", "Move to the bin", "Branch into a new chain", "Purge values")
        offered[role] = [each for each in offers if re.search(f">{each}", pages)]
    assert offered[Role.VIEWER] == []
    assert offered[Role.EDITOR] == ["Upload<", "Fix [0-9]+ problem", "Rename", "Move to the bin", "Branch into a new chain"]
    assert offered[Role.OWNER] == [*offered[Role.EDITOR], "Purge values"]


def test_no_link_of_a_page_leads_a_viewer_to_a_refusal(team_mode: Team) -> None:
    owner = client_of(make_member(team_mode, "Lin", Role.OWNER))
    chain = make_chain(STORY)
    send_form(owner, f"/c/{chain.pk}/repair/?v=1")
    owner.post(f"/c/{chain.pk}/d/{Draft.objects.get().pk}/save", {"note": "repaired"})
    viewer = client_of(make_member(team_mode, "Sam", Role.VIEWER))
    version = f"/c/{chain.pk}/v/2/"
    pages = [version, *(version + name for name in ("inspect/s1.p1", "node/s1.p1", "problems", "observations", "export"))]
    pages += [f"/c/{chain.pk}/diff/1..2/", f"/c/{chain.pk}/versions/", f"/c/{chain.pk}/state/", "/secrets/", "/", "/team/"]
    links = set()
    for page in pages:
        text = viewer.get(page).content.decode()
        links |= {unescape(link) for link in re.findall(r'(?:href|data-address)="(/[^"#]*)', text)}
        assert "/edit/" not in text, page
    refused = [link for link in links if viewer.get(link.replace("PATH", "s1.p1")).status_code == 403]
    assert refused == []
    assert f'/c/{chain.pk}/edit/PATH?v=2"' in owner.get(version).content.decode()


def test_local_mode_has_no_page_of_team_mode(client: Client) -> None:
    make_user("Lin")
    assert {client.get(page).status_code for page in ("/sign-in/", "/account/", "/team/", "/join/x")} == {404}
