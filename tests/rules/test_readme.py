"""The README names what there is: every setting with its default, every command, files that exist, pictures that are small."""

from __future__ import annotations

import re

from chainviz.cli import COMMANDS
from chainviz.settings import Environment
from tests import ROOT

TEXT = (ROOT / "README.md").read_text()
NOT_IN_A_TABLE = {"data", "database_url"}
"""Settings whose default is told in words."""


def test_every_setting_stands_there_with_its_default() -> None:
    told = dict(re.findall(r"^\| `CHAINVIZ_(\w+)` \| (.*?) ?\|", TEXT, re.MULTILINE))
    fields = Environment.model_fields
    assert {name.lower() for name in told} == set(fields)
    for name, field in fields.items():
        assert name in NOT_IN_A_TABLE or told[name.upper()] == str(field.default), name


def test_every_command_stands_there() -> None:
    assert {name for name in COMMANDS if f"`chainviz {name}" not in TEXT} == set()


def test_every_file_it_names_exists() -> None:
    named = re.findall(r"`((?:chainviz|tests|static|templates|\.ci)/[\w./]+)`", TEXT)
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_its_pictures_are_there_and_small() -> None:
    pictures = re.findall(r"!\[.+?\]\((.+?)\)", TEXT)
    assert len(pictures) == 2
    for name in pictures:
        picture = (ROOT / name).read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) < 300_000
