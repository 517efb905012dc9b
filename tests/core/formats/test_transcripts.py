"""Real transcripts by other people: those that open as chains come back byte for byte, the others say what they are."""

from __future__ import annotations

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
def test_most_files_open_as_chains_that_come_back_byte_for_byte_and_the_others_say_what_they_are() -> None:
    shared("transcripts")
    refused: dict[str, str] = {}
    for path in FILES:
        try:
            chains = load_file(path)
        except DocumentError as error:
            refused[f"{path.parent.name}/{path.name}"] = str(error)
            continue
        with open_source(path) as source:
            for chain in chains:
                assert chain.messages, path
                region = chain.envelope.region
                document = export_chain(chain.messages, chain.envelope, chain.format, source.read)
                assert document == source.read(region.start, region.end), path
    assert all(text.count(". ") <= 1 and text.endswith(".") for text in refused.values())
    assert len(refused) <= (1 - OPENING) * len(FILES), refused
