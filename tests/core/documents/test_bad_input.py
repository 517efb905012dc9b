"""Whatever a person uploads: a chain, or one sentence that says what is wrong and where. Never another error."""

from __future__ import annotations

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.documents.wrapped.unwrap import unwrapped
from chainviz.core.errors import DocumentError
from chainviz.core.load import load_file
from tests.core.formats.chains import all_documents, exported, read_only_documents
from tests.cpu import cpu_seconds
from tests.examples import examples

ONE = '{"role":"user","content":"hello"}'

REFUSED = {
    "empty": (b"", "empty"),
    "spaces": (b" \n\t", "empty"),
    "text": (b"hello\nworld", "Line 1, column 1: this is not JSON"),
    "number": (b" 42", "Line 1, column 2: the file is JSON, but only a single value"),
    "html": (b"\n<!DOCTYPE html>", "Line 2, column 1: this is HTML"),
    "png": (b"\x89PNG\r\n\x1a\n\0\0", "PNG image"),
    "zip": (b"PK\x03\x04....", "zip archive"),
    "zeros": (b"\0" * 100_000, "zero bytes"),
    "empty list": (b"[]", "empty"),
    "empty messages": (b'{"messages": []}', "empty"),
    "no messages": (b'{"a": [1, 2]}', "no list of messages"),
    "deep": (b"[" * 100_000, "Line 1, column 257: values are nested more than 256 deep"),
    "deep in a message": (b'[{"role":"user","content":' + b"[" * 100_000, "nested more than"),
    "deep but closed": (b'[{"role":"user","content":"a","x":' + b"[" * 5000 + b"]" * 5000 + b"}]", "nested"),
    "deep object": (b'{"a":' * 100_000, "nested more than"),
    "brackets": (b'[{"role":"user"]}', "Line 1, column 16"),
    "trailing comma": (f"[{ONE},]".encode(), "Line 1, column 36"),
    "no comma": (f"[{ONE}\n {ONE}]".encode(), "Line 2, column 2: a comma is missing"),
    "beside": (f'{{"a": tru,\n"messages": [{ONE}]}}'.encode(), "Line 1, column 7"),
    "behind": (f'{{"messages": [{ONE}],\n"a": }}'.encode(), "Line 2, column 6"),
    "more": (f"[{ONE}]\nx".encode(), "Line 2, column 1: there is text after the end"),
    "quotes": (b"[{'role':'user'} {]", "Line 1, column 3"),
    "control character": (b'{"system": "a", "messages": [\0 1]}', "Line 1"),
    "too many lists": (b"[" + b",".join([b'{"messages":[%s]}' % ONE.encode()] * 20_001) + b"]", "more than 20000 message lists"),
    "unknown": (b'[{"role":"user","parts":[{"foo":1}]}]', "no known format"),
    "odd UTF-16": ('[{"role":"user"}]'.encode("utf-16") + b"\x00", "UTF-16"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_a_sentence(name: str) -> None:
    content, words = REFUSED[name]
    with pytest.raises(DocumentError) as caught:
        load_file(content)
    assert words in str(caught.value)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 400
    if caught.value.fault.line:
        assert str(caught.value).startswith(f"Line {caught.value.fault.line}, column {caught.value.fault.column}: ")


def test_a_cut_off_document_without_messages_is_refused_in_linear_time() -> None:
    def refused(count: int) -> None:
        with pytest.raises(DocumentError):
            load_file(b'{"x": [' + b"[1]," * count)

    small, large = (cpu_seconds(partial(refused, count)) for count in (5_000, 150_000))
    assert large < 75 * max(small, 0.001)  # usually 30; looking to the end from every list, 200


BARE = "an unescaped control character is in the string at"
ODD = {
    "NaN": (f'[{{"x":NaN,{ONE[1:]}]', "NaN"),
    "Infinity": (f'[{{"x":-Infinity,{ONE[1:]}]', "Infinity"),
    "duplicate key": ('[{"role":"user","content":"a","content":"hello"}]', "“content” occurs twice"),
    "control character": ('[{"role":"user","content":"hello","x":"\0"}]', f"Line 1, column 40: {BARE} /x."),
    "control character on a later line": (
        '[{"role":"user","content":[\n{"type":"text","text":"hello","x":["a\1"]}]}]',
        f"Line 2, column 38: {BARE} /content/0/x/0.",
    ),
    "fault behind a control character": (
        '{"instructions":"a\0", x, "input":[{"type":"message","role":"user","content":"hello"}]}',
        f"Line 1, column 19: {BARE} /instructions.",
    ),
    "huge number": (f'[{{"x":1e400,"y":{"9" * 5000},{ONE[1:]}]', ""),
    "surrogate": (f'[{{"x":"\\ud83d",{ONE[1:]}]', ""),
    "stranger in the list": (f'[null,{ONE},5,"x"]', "not a message"),
    "byte order mark": (f"\ufeff[{ONE}]", ""),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_but_readable(name: str) -> None:
    text, warning = ODD[name]
    content = text.encode()
    (chain,) = load_file(content)
    assert chain.messages[0].parts[0].text == "hello"  # type: ignore[union-attr]
    assert exported(content, chain) == content
    assert warning in " ".join(chain.warnings)
    assert bool(chain.warnings) == bool(warning)


def test_bytes_that_are_no_text_are_kept_with_a_warning() -> None:
    content = b'[{"role":"user","content":"a\xffb"}]'
    (chain,) = load_file(content)
    assert "UTF-8" in chain.warnings[0]
    assert exported(content, chain) == content


def test_broken_lines_are_kept_and_told() -> None:
    content = f'{ONE}\n{{"role":"assi\n{ONE}{ONE}\n\nnot json\r\n{ONE}'.encode()
    (chain,) = load_file(content)
    assert len(chain.messages) == 4
    assert [warning.split(":")[0] for warning in chain.warnings] == [
        "Line 2, column 14", "Line 3, column 34", "Line 5, column 1",
    ]  # fmt: skip
    assert exported(content, chain) == content
    assert exported(content, chain, ()).split() == [b'{"role":"assi', b"not", b"json"]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ('{"messages" []}', "Line 2, column 13: a colon is missing after a key; the line is kept as it is."),
        ('{"messages": [{"role" "user"}]}', "Line 2, column 23: a colon is missing after a key; the line is kept as it is."),
        ('{"messages": [{"role": 5,}]}', "Line 2, column 26: a key in double quotes is missing; the line is kept as it is."),
    ],
)
def test_a_broken_line_among_lines_with_a_chain_each_is_named(broken: str, said: str) -> None:
    line = f'{{"messages": [{ONE}]}}'
    chains = load_file(f"{line}\n{broken}\n{line}\n".encode())
    assert len(chains) == 2 and said in chains[0].warnings


def test_glued_objects_alone_on_a_line() -> None:
    content = (ONE + ONE).encode()
    (chain,) = load_file(content)
    assert len(chain.messages) == 2
    assert exported(content, chain) == content
    assert json.loads(exported(content, chain, chain.messages[1:])) == json.loads(ONE)


@pytest.mark.parametrize("head", ["[", '{"model":"m","messages":['])
@pytest.mark.parametrize("tail", ['{"role":"assi', '{"role":"user","content":"a"', "", '{"a":[1,{"b":tru'])
def test_cut_off_list_can_be_kept_in_part(head: str, tail: str) -> None:
    content = f"{head}{ONE},\n{ONE},\n{tail}".encode()
    with pytest.raises(DocumentError) as caught:
        load_file(content)
    assert caught.value.salvage == 2
    assert caught.value.fault.line == 3
    assert "cut off" in str(caught.value)
    (chain,) = load_file(content, salvage=True)
    assert len(chain.messages) == 2
    assert exported(content, chain) == content
    assert chain.warnings


@given(st.data())
@examples(300)
def test_a_damaged_document_is_read_or_refused(data: st.DataObject) -> None:
    _, content = data.draw(st.sampled_from([*all_documents(), *read_only_documents()]))
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 40)))
    damaged = content[:start] + data.draw(st.binary(max_size=3) | st.sampled_from([b"[", b'"', b"}", b"\\"])) + content[end:]
    for salvage in (False, True):
        try:
            loaded = load_file(damaged, salvage=salvage)
        except DocumentError as error:
            assert str(error).endswith(".")
            continue
        # with a damaged beginning it may be any text with JSON in it, which is taken out
        if len(loaded) == 1 and unwrapped(damaged.decode("utf-8", "surrogateescape")) is None:
            region = loaded[0].envelope.region
            assert exported(damaged, loaded[0]) in (damaged, damaged[region.start : region.end])


@given(st.binary(max_size=200) | st.text('[]{}",:\\ \nabe10', max_size=60).map(str.encode))
@examples(500)
def test_any_bytes(content: bytes) -> None:
    for form in (None, "openai_chat", "raw"):
        try:
            loaded = load_file(content, form)
        except DocumentError as error:
            assert str(error).endswith(".")
            continue
        if len(loaded) == 1 and loaded[0].envelope.region.end - loaded[0].envelope.region.start == len(content):
            assert exported(content, loaded[0]) == content


@pytest.mark.parametrize("first", ['{"content": "x"}', '{"role": null, "content": "x"}', '{"role": 5}', '{}, {"kind": []}'])
def test_a_first_element_that_is_no_message_hides_none_of_the_others(first: str) -> None:
    text = f'{{"messages": [{first}, {{"role": "user", "content": "hi"}}, {{"role": "assistant", "content": "yo"}}]}}'
    (chain,) = load_file(text.encode())
    assert [message.role for message in chain.messages] == ["human", "ai"]
    assert "not a message" in chain.warnings[0]


@pytest.mark.parametrize("system", ['"be kind"', '[{"type": "text", "text": "be kind"}]'])
def test_a_system_text_beside_an_empty_list_is_a_chain(system: str) -> None:
    document = f'{{"model": "m", "system": {system}, "messages": [ ]}}\n'.encode()
    (chain,) = load_file(document)
    assert (chain.format, [message.role for message in chain.messages]) == ("anthropic", ["system"])
    assert exported(document, chain) == document


def test_a_list_on_each_line_is_a_chain_on_each_line() -> None:
    lines = b'[{"role": "user", "content": "a"}]\n[{"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}]\n'
    assert [len(chain.messages) for chain in load_file(lines)] == [1, 2]


def test_an_unknown_role_does_not_hide_the_format() -> None:
    use = '{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]}'
    (chain,) = load_file(f'[{{"role": "user", "content": "a"}}, {use}, {{"role": "alien", "content": "x"}}]'.encode())
    assert chain.format == "anthropic"


@pytest.mark.parametrize("content", ['{"messages": [', '{"a": ', '{"a": 1', "["])
def test_cut_off_before_the_first_message(content: str) -> None:
    with pytest.raises(DocumentError, match="it is cut off"):
        load_file(content.encode())
