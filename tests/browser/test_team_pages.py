"""The pages of team mode: accessible, one heading, fit a screen and a phone, in both themes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chainviz.accounts.invitations import invite
from chainviz.accounts.models import local_member
from chainviz.accounts.permissions import Role
from tests.accounts.people import PASSWORD, make_member
from tests.browser.test_page import PHONE, WIDE, axe_violations

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (PHONE, "dark")], ids=["wide", "phone"])
def test_a_person_signs_in_and_every_page_is_accessible(
    page: Any, live_server: Any, settings: Any, tmp_path: Path, size: Any, scheme: Any, faults: list[str]
) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team", "data": tmp_path})
    owner = make_member(local_member().team, "Lin", Role.OWNER)
    link = f"/join/{invite(owner, 'ivo@example.org', Role.EDITOR)}"
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    wrong: list[str] = []

    def look(where: str) -> None:
        page.goto(live_server.url + where)
        wrong.extend(f"{where}: {each}" for each in axe_violations(page))
        if page.locator("h1").count() != 1 or not page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            wrong.append(f"{where}: headings or width")

    for where in (link, "/join/unknown", "/team/"):
        look(where)
    page.get_by_label("E-mail").fill("lin@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Members").wait_for()
    for where in ("/team/", "/team/audit/?check=1", "/account/", "/"):
        look(where)
    page.get_by_role("button", name="Account: Lin").click()
    wrong.extend(f"menu: {each}" for each in axe_violations(page))
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in").wait_for()
    assert wrong == []
    assert all("404" in fault for fault in faults)
    faults.clear()
