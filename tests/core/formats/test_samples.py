"""The samples of all formats: detected as their folder says, written back byte for byte, edited in one place.

A sample of a new format needs only a file `tests/samples/<name of the format>/ok_<what>.<ending>`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from chainviz.core.chain.messages import Text
from chainviz.core.documents.source import open_source
from chainviz.core.errors import DocumentError, Refused
from chainviz.core.formats import FORMATS, get_format
from chainviz.core.formats.offers import offers_of
from chainviz.core.load import LoadedChain, load_file, restyle
from tests.core.formats.chains import WITHOUT_CHAIN, differing, exported, values
from tests.shared_folder import SAMPLES

AMBIGUOUS = {"mistral/broken_ids.json"}
"""Nothing in the file tells its format from another."""


@dataclass(frozen=True)
class Sample:
    file: str

    @property
    def path(self) -> Path:
        return SAMPLES / self.file

    @property
    def format(self) -> str:
        return self.path.parent.name

    def chains(self) -> list[LoadedChain]:
        return load_file(self.path, self.format if self.file in AMBIGUOUS else None)

    def __str__(self) -> str:
        return self.file


FILES = sorted(str(path.relative_to(SAMPLES)) for path in SAMPLES.glob("*/*"))
ALL = [Sample(file) for file in FILES if file not in WITHOUT_CHAIN]


def test_every_folder_is_named_after_a_format() -> None:
    assert {sample.format for sample in ALL} <= {format.name for format in FORMATS}


@pytest.mark.parametrize("file", WITHOUT_CHAIN)
def test_a_file_without_a_chain_is_named(file: str) -> None:
    with pytest.raises(DocumentError, match="without messages that can be read"):
        load_file(SAMPLES / file)


@pytest.mark.parametrize("sample", ALL, ids=str)
def test_detected_as_its_folder_says(sample: Sample) -> None:
    with open_source(sample.path) as source:
        offers = offers_of(source)
    if sample.file in AMBIGUOUS:
        assert all(len(offer.formats) > 1 and sample.format in [form.name for form in offer.formats] for offer in offers)
    else:
        assert {offer.formats[0].name for offer in offers} == {sample.format}


@pytest.mark.parametrize("sample", ALL, ids=str)
def test_a_chosen_format_reads_its_own_files(sample: Sample) -> None:
    chains = load_file(sample.path, sample.format)
    assert chains
    assert all(chain.messages for chain in chains)


@pytest.mark.parametrize("sample", ALL, ids=str)
def test_nothing_edited_is_nothing_changed(sample: Sample) -> None:
    content = sample.path.read_bytes()
    for chain in sample.chains():
        region = chain.envelope.region
        assert exported(content, chain) == content[region.start : region.end]


@pytest.mark.parametrize("sample", ALL, ids=str)
def test_an_edited_text_changes_one_place(sample: Sample) -> None:
    content = sample.path.read_bytes()
    for chain in sample.chains():
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
