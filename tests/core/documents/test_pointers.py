"""Pointers of places: every text of a document is found where a reader of JSON finds it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chainviz.core.documents.json import scan
from chainviz.core.documents.json.scan import Pointers

DOCUMENT = {
    "a/b": ["w0", {"~": "w1", 'é"': [["w2"], [], "w3"]}, "w4"],
    "": {"x": {}, "y": ", { [ w5 : ] } \\", "": "w6"},
    "z": [{"k": "w7"}, {"k": "w8", "l": ["w9"]}],
}


def leaf(document: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[json.loads(f'"{key}"')]
    return document


@pytest.mark.parametrize("apart", [1, 7, 1 << 16])
@pytest.mark.parametrize("indent", [None, 2])
def test_each_text_has_its_pointer(apart: int, indent: int | None, monkeypatch: Any) -> None:
    monkeypatch.setattr(scan, "APART", apart)
    text = json.dumps(DOCUMENT, indent=indent)
    of = Pointers(text)
    for word in (f"w{i}" for i in range(10)):
        assert word in leaf(DOCUMENT, of.at(text.index(word)))


@pytest.mark.parametrize("text", ["", "}]],", '"open', "plain words: w, w", '{"a": [}'])
def test_what_is_no_json_breaks_nothing(text: str) -> None:
    assert isinstance(Pointers(text).at(len(text)), str)
