"""Every address states which permission it asks for, and has a row in the table of who may use it."""

from __future__ import annotations

from chainviz.accounts.permissions import Role, access_of, lowest_role, may
from tests.accounts.access_rows import ROWS, addresses


def test_every_view_states_what_it_requires() -> None:
    missing = [route for _, route, view in addresses() if access_of(view, "POST") is None]
    assert missing == [], "decorate these views with chainviz.accounts.permissions.requires"


def test_every_address_has_a_row() -> None:
    assert {name for name, *_ in addresses()} == ROWS.keys(), "add a row to tests/accounts/access_rows.py"


def test_every_view_states_what_its_row_says() -> None:
    for name, _, view in addresses():
        wanted = ROWS[name].split()
        stated = [access_of(view, method) for method in ("GET", "POST")]
        found = [access if access in ("public", "account") else lowest_role(access).value for access in stated if access]
        assert found == [wanted[0], wanted[-1]], name


def test_each_role_may_do_what_the_one_below_may() -> None:
    assert [role for role in Role if may(role, "read")] == list(Role)
    assert [lowest_role(each) for each in ("export", "verdict", "save", "purge")] == list(Role)
