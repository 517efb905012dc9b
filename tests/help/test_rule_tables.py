"""The page about provider rules has every rule of every provider, with all values, and problems lead to it."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.operations.repair.fixes import CHOICES
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.rules import NO_REPAIR, rule_anchor
from chainviz.help.tables import TITLES, rule_table

pytestmark = pytest.mark.django_db


def cells_of(html: str) -> list[str]:
    return [" ".join(unescape(re.sub("<[^>]+>", "", cell)).split()) for cell in re.findall(r"<td[^>]*>(.*?)</td>", html, re.DOTALL)]


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_every_rule_is_on_the_page_with_all_values(client: Client, provider: Provider) -> None:
    page = client.get("/help/provider-rules/").content.decode()
    rows = [cells_of(row) for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL)]
    for rule in provider.all_rules:
        said = re.sub(r"\{([a-z_]+)\}", r"\1", rule.says)
        wanted = {rule.id, rule.models, rule.since, rule.checked, rule.source}
        found = [row for row in rows if wanted <= set(row) and " ".join(said.split()) in row[2]]
        assert found and all(len(row) == len(TITLES) and all(row) for row in found), rule
        assert f'id="{rule_anchor(provider.name, rule.id)}"' in page


def test_anchors_are_unique(client: Client) -> None:
    anchors = re.findall(r' id="([^"]*)"', client.get("/help/provider-rules/").content.decode())
    assert len(anchors) == len(set(anchors))


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_a_rule_names_known_fixes_or_says_why_there_is_none(provider: Provider) -> None:
    unknown = {(rule.id, fix) for rule in provider.all_rules for fix in rule.fixes if fix not in CHOICES}
    assert not unknown, "a fix is one of CHOICES in chainviz/core/operations/repair/fixes.py"
    silent = {row.cells[0] for row in rule_table(provider.name).rows if NO_REPAIR in row.cells[5]}
    assert not silent, "add a sentence to WITHOUT_FIX in chainviz/core/providers/rules.py, or `fixes` to the rule"
