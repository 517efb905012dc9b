"""Real transcripts by other people: those that open as chains come back byte for byte, the others say what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from chainviz.core.documents.source import open_source
from chainviz.core.errors import DocumentError
from chainviz.core.load import export_chain, load_file
from tests.shared_folder import FOLDER, shared

FILES = [
    path
    for path in sorted((FOLDER / "transcripts").glob("*/**/*"))
    if path.is_file() and path.parent.name != "LICENSES" and path.suffix not in (".db", ".tsv")
]
OPENING = 0.8
"""The share that opens as chains; it rises with every format."""


@pytest.mark.slow
def test_most_files_open_as_chains_and_the_others_say_what_they_are() -> None:
    shared("transcripts")
    refused: dict[str, str] = {}
    for path in FILES:
        try:
            assert all(chain.messages for chain in load_file(path)), path
        except DocumentError as error:
            refused[f"{path.parent.name}/{path.name}"] = str(error)
    assert all(text.count(". ") <= 1 and text.endswith(".") for text in refused.values())
    assert len(refused) <= (1 - OPENING) * len(FILES), refused


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}/{path.name}"[:80] for path in FILES])
def test_what_opens_comes_back_byte_for_byte(path: Path) -> None:
    try:
        chains = load_file(path)
    except DocumentError:
        return
    with open_source(path) as source:
        for chain in chains:
            region = chain.envelope.region
            document = export_chain(chain.messages, chain.envelope, chain.format, source.read)
            assert document == source.read(region.start, region.end)
