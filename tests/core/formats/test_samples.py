"""The samples of all formats: detected as MANIFEST.json says, written back byte for byte, edited in one place."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from chainviz.core.chain.messages import Text
from chainviz.core.documents.source import open_source
from chainviz.core.errors import DocumentError, Refused
from chainviz.core.formats import FORMATS, get_format
from chainviz.core.formats.offers import offers_of
from chainviz.core.load import LoadedChain, load_file, restyle
from tests.core.formats.chains import WITHOUT_CHAIN, differing, exported, values
from tests.shared_folder import SAMPLES

NOT_YET = frozenset[str]()
"""Formats that are not read yet. One that exists must not stand here."""
AMBIGUOUS = {"mistral/broken_ids.json"}
"""Nothing in the file tells its format from another."""


@dataclass(frozen=True)
class Sample:
    file: str
    format: str

    @property
    def path(self) -> Path:
        return SAMPLES / self.file

    def __str__(self) -> str:
        return self.file


def manifest() -> list[Sample]:
    entries: list[dict[str, Any]] = json.loads((SAMPLES / "MANIFEST.json").read_text())
    return [Sample(entry["file"], entry["format"]) for entry in entries if entry["file"] not in WITHOUT_CHAIN]


def chains_of(sample: Sample) -> list[LoadedChain]:
    return [] if sample.format in NOT_YET else load_file(sample.path, sample.format if sample.file in AMBIGUOUS else None)


@pytest.mark.parametrize("file", WITHOUT_CHAIN)
def test_a_file_without_a_chain_is_named(file: str) -> None:
    with pytest.raises(DocumentError, match="without messages that can be read"):
        load_file(SAMPLES / file)


def test_formats_that_exist_are_not_excused() -> None:
    assert not NOT_YET & {format.name for format in FORMATS}


@pytest.mark.parametrize("sample", manifest(), ids=str)
def test_detected_as_the_manifest_says(sample: Sample) -> None:
    if sample.format in NOT_YET:
        return
    with open_source(sample.path) as source:
        offers = offers_of(source)
    if sample.file in AMBIGUOUS:
        assert all(len(offer.formats) > 1 and sample.format in [form.name for form in offer.formats] for offer in offers)
    else:
        assert {offer.formats[0].name for offer in offers} == {sample.format}


@pytest.mark.parametrize("sample", manifest(), ids=str)
def test_a_chosen_format_reads_its_own_files(sample: Sample) -> None:
    if sample.format not in NOT_YET:
        assert all(chain.messages for chain in load_file(sample.path, sample.format))


@pytest.mark.parametrize("sample", manifest(), ids=str)
def test_nothing_edited_is_nothing_changed(sample: Sample) -> None:
    content = sample.path.read_bytes()
    for chain in chains_of(sample):
        region = chain.envelope.region
        assert exported(content, chain) == content[region.start : region.end]


@pytest.mark.parametrize("sample", manifest(), ids=str)
def test_an_edited_text_changes_one_place(sample: Sample) -> None:
    content = sample.path.read_bytes()
    for chain in chains_of(sample):
        place = next(((i, j) for i, m in enumerate(chain.messages) for j, p in enumerate(m.parts) if type(p) is Text), None)
        if place is None:
            continue
        if not get_format(chain.format).writes:
            with pytest.raises(Refused, match="read-only"):
                restyle(chain.messages, place[0], chain.messages[place[0]], chain.format, chain.envelope)
            continue
        index, at = place
        message = chain.messages[index]
        parts = (*message.parts[:at], replace(message.parts[at], text="A changed text."), *message.parts[at + 1 :])  # type: ignore[type-var]
        changed = restyle(chain.messages, index, replace(message, parts=parts), chain.format, chain.envelope)
        document = exported(content, chain, (*chain.messages[:index], changed, *chain.messages[index + 1 :]))
        before = content[chain.envelope.region.start : chain.envelope.region.end]
        where = differing(values(before), values(document))
        # an old UIMessage holds its text twice
        assert len(where) == 1 or {at[-1] for at in where} in ({"content", "text"}, {"content", "message"})


@pytest.mark.parametrize("sample", manifest(), ids=str)
def test_a_file_that_is_not_read_yet_says_so_in_a_sentence(sample: Sample) -> None:
    if sample.format not in NOT_YET:
        return
    try:
        load_file(sample.path)
    except DocumentError as error:
        assert str(error).endswith(".")
