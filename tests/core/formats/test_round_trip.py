"""Unedited content is written back byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from chainviz.core.documents.assemble import whole_file
from chainviz.core.documents.source import open_source
from chainviz.core.documents.units import from_json, to_json
from chainviz.core.documents.written_file import written
from chainviz.core.errors import DocumentError
from chainviz.core.formats import get_format
from chainviz.core.load import document_in, export_chain, load_file
from tests.core.formats.chains import all_documents, read_only_documents, sample_files
from tests.shared_folder import FOLDER


def round_trip(content: bytes) -> int:
    chains = load_file(content)
    with open_source(content) as source:
        regions = {}  # the branches of a session share their document
        for chain in chains:
            form = get_format(chain.format)
            # the store keeps messages as fragments only: what they give must be the message again
            for message in chain.messages:
                again = form.message(message.role, message.source)
                assert again == message
                assert [part.origin for part in again.parts] == list(range(len(message.parts)))
                assert (again.label, again.note) == (message.label, message.note)
                for fragment in (each for each in message.source if each.start >= 0):
                    size = len(fragment.text.encode("utf-8", "surrogateescape"))
                    read = source.read(fragment.start, fragment.start + size)
                    assert read.decode("utf-8", "surrogateescape") == fragment.text
            envelope = from_json(to_json(chain.envelope))
            assert envelope == chain.envelope
            document = export_chain(chain.messages, envelope, chain.format, source.read)
            assert document == source.read(envelope.region.start, envelope.region.end)
            regions[envelope.region] = [document]
        assert b"".join(written(whole_file(source.size, regions.items(), source.read), source.encoding)) == content
    return sum(len(chain.messages) for chain in chains)


DOCUMENTS = [*all_documents(), *read_only_documents()]


@pytest.mark.parametrize(("name", "content"), DOCUMENTS, ids=[name for name, _ in DOCUMENTS])
def test_sample_survives(name: str, content: bytes) -> None:
    assert round_trip(content) > 0


FOLDERS = [path for folder in ("samples", "transcripts") for path in sorted((FOLDER / folder).glob("*/*")) if path.is_file()]


@pytest.mark.parametrize("path", FOLDERS, ids=[f"{path.parent.name}/{path.name}"[:80] for path in FOLDERS])
def test_every_shared_file_survives_or_is_refused_in_a_sentence(path: Path) -> None:
    content = path.read_bytes()
    try:
        round_trip(content)
    except DocumentError as error:
        assert str(error).endswith(".")
        assert path.parent.name not in ("openai_chat", "anthropic", "langchaingo", "claude_code", "tau2-bench")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-16-le"])
def test_other_encodings_come_back_in_their_own(encoding: str) -> None:
    content = '{"messages": [{"role": "user", "content": "grüß 🦊"}]}\n'.encode(encoding)
    (chain,) = load_file(content)
    assert chain.messages[0].parts[0].text == "grüß 🦊"  # type: ignore[union-attr]
    with open_source(content) as source:
        assert export_chain(chain.messages, chain.envelope, chain.format, source.read) == content


def test_crlf_blank_lines_and_a_missing_last_line_break_survive() -> None:
    content = b'\r\n{"role":"user","content":"a"}\r\n\r\n {"role":"assistant","content":"b"} \r\n{"role":"user","content":"c"}'
    assert round_trip(content) == 3


def test_raw_text_keeps_bytes_that_are_no_text() -> None:
    content = b"plain \xff\xfe words\r\n<b>\x00"
    (chain,) = load_file(content, "raw")
    assert len(chain.messages) == 1
    with open_source(content) as source:
        assert export_chain(chain.messages, chain.envelope, "raw", source.read) == content


def test_claude_code_message_owns_several_lines_around_a_result() -> None:
    chain, _sub_agent = load_file(sample_files()[0].parent.parent / "claude_code" / "ok_session.jsonl")
    assert [message.role for message in chain.messages] == ["human", "ai", "tool", "tool", "human", "ai"]
    assert [fragment.ordinal for fragment in chain.messages[1].source] == [2, 3, 4, 6]
    assert [fragment.ordinal for fragment in chain.messages[2].source] == [5]
    assert [span.ordinal for span in chain.envelope.carried] == [0, 8, 10, 12, 13]


def test_anthropic_user_message_is_results_and_text() -> None:
    (chain,) = load_file(sample_files()[0].parent.parent / "anthropic" / "ok_request.json")
    assert [message.role for message in chain.messages] == ["system", "human", "ai", "tool", "human", "ai", "tool", "ai"]
    results, text = chain.messages[3], chain.messages[4]
    assert (results.source[0].ordinal, results.source[0].blocks) == (2, (0, 1))
    assert (text.source[0].ordinal, text.source[0].blocks) == (2, (2,))


@pytest.mark.parametrize("path", sample_files(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_chainviz_json_holds_opens_again(path: Path) -> None:
    """Parts that no format knows among them: some have no type, others one that means another format (issue 8)."""
    for chain in load_file(path.read_bytes()):
        (again,) = load_file(b"".join(document_in(get_format("neutral"), chain.messages)))
        assert again.format == "neutral"
        assert [(m.role, len(m.parts)) for m in again.messages] == [(m.role, len(m.parts)) for m in chain.messages]
