"""An edit reads back as it was meant, touches one leaf, and leaves every unknown field where it was."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import is_json
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Style
from chainviz.core.load import LoadedChain, load_file, restyle
from tests.core.formats.chains import all_documents, chains, differing, exported, values
from tests.examples import examples

WORDS = st.text(max_size=12) | st.sampled_from(["", "\ud83d", "\0", 'a"b\\c', "né\n", "\u2028"])
OBJECTS = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3).map(json.dumps)
VALID, INVALID = (Message(AI, (ToolCall("call1aZ29", "look", arguments),)) for arguments in ("{}", "{x"))
COPIES = ("toolUseResult", "toolInvocations", "additional_kwargs", "resultDisplay")
"""Members that repeat what stands elsewhere, and follow it."""
CHAT = ("openai_chat", "kimi_cli", "goaitools_state", "mistral", "cohere")
WITHOUT_IDS = ("sharegpt",)
WITHOUT_EMPTY = (*CHAT, "pydantic_ai", "atif", "copilot_cli", "swe_agent", "openhands", "gemini_cli", "qwen_code", "forge", "hermes")
"""Formats that do not read back an empty text."""
ONE_TEXT = ("ollama", "openhands")


def with_unknown_fields(value: Any, chance: random.Random) -> Any:
    """The value with odd members put into random objects at any level."""
    if isinstance(value, list):
        return [with_unknown_fields(item, chance) for item in value]
    if not isinstance(value, dict):
        return value
    result = {key: with_unknown_fields(item, chance) for key, item in value.items()}
    if chance.random() < 0.5:
        result[f"x{chance.randrange(9)}"] = chance.choice([None, 1e300, {"y": [2**70, "é"]}, [], "\0"])
    return result


def has_shown_id(part: Part) -> bool:
    """The id is made of the tool's name: the document has none."""
    id = part.id if isinstance(part, ToolCall) else part.call_id if isinstance(part, ToolResult) else "?"
    return isinstance(part, ToolCall | ToolResult) and id.partition("#")[0] == part.name


def wants_objects(form: str) -> bool:
    """Return True if arguments that are not valid JSON do not stay as they are."""
    losses = get_format(form).losses
    return form in ("langchain", "langsmith") or losses(INVALID) != losses(VALID)


def leaf_edits(part: Part, form: str) -> list[st.SearchStrategy[Part]]:
    """Changes of one leaf each."""
    if isinstance(part, Text):
        return [WORDS.map(lambda word: replace(part, text=word))]
    if isinstance(part, Image):
        address = "data:image/png;base64,A" if form in ("bedrock_converse", "ollama") else "http://"
        return [WORDS.map(lambda word: replace(part, url=address + word))]
    if isinstance(part, Thinking) and not part.redacted:
        return [WORDS.map(lambda word: replace(part, content=f"x{word}"))]
    if isinstance(part, ToolCall) and part.has_function:
        arguments = OBJECTS if wants_objects(form) else WORDS
        edits = [arguments.map(lambda word: replace(part, arguments=word)), WORDS.map(lambda w: replace(part, name=w))]
        return edits if has_shown_id(part) or form in WITHOUT_IDS else [*edits, WORDS.map(lambda word: replace(part, id=f"i{word}"))]
    if isinstance(part, ToolResult):
        edits = [WORDS.map(lambda word: replace(part, content=word))]
        if has_shown_id(part) or form in (*WITHOUT_IDS, "atif"):  # the call gives an ATIF result its name
            return edits
        return [*edits, WORDS.map(lambda w: replace(part, call_id=f"i{w}"))]
    return []


def with_part(message: Message, place: int, *parts: Part) -> Message:
    return replace(message, parts=(*message.parts[:place], *parts, *message.parts[place + 1 :]))


def written(chain: LoadedChain, index: int, message: Message) -> tuple[Message, LoadedChain]:
    """The message as its format reads it back, and the whole document with it."""
    form = get_format(chain.format)
    styled = restyle(chain.messages, index, message, form, chain.envelope)
    again = form.message(message.role, styled.source)
    assert again.role == message.role
    # what was written once is not written again: the fragments are stable
    assert form.write(again, Style()) == styled.source
    messages = (*chain.messages[:index], styled, *chain.messages[index + 1 :])
    return again, replace(chain, messages=messages)


@given(st.data())
@examples(200)
def test_one_leaf(data: st.DataObject) -> None:
    name, content = data.draw(st.sampled_from(list(all_documents())))
    chance = random.Random(data.draw(st.integers(0, 2**32)))
    if not name.endswith(".jsonl"):
        indent = data.draw(st.sampled_from([None, 1, 4]))
        value = with_unknown_fields(json.loads(content), chance)
        content = json.dumps(value, indent=indent, ensure_ascii=chance.random() < 0.5).encode()
    chain = data.draw(st.sampled_from(load_file(content)))
    index = data.draw(st.integers(0, len(chain.messages) - 1))
    message = chain.messages[index]
    if not message.parts:
        return
    place = data.draw(st.integers(0, len(message.parts) - 1))
    edits = leaf_edits(message.parts[place], chain.format)
    if not edits:
        return
    part = data.draw(data.draw(st.sampled_from(edits)))
    changed = with_part(message, place, part)
    again, edited = written(chain, index, changed)
    if isinstance(part, Text) and not part.text and chain.format in WITHOUT_EMPTY:
        return
    if isinstance(part, ToolCall) and has_shown_id(message.parts[place]):
        # such an id follows the name
        assert again.parts[place].name == part.name  # type: ignore[union-attr]
    else:
        assert again == changed
    document = exported(content, chain, edited.messages)
    original = content[chain.envelope.region.start : chain.envelope.region.end]
    if part == message.parts[place]:
        assert document == original
        return
    where = differing(values(original), values(document))
    copies = {at for at in where if any(key in at for key in COPIES)}
    copies |= {at for at in where if chain.format in ("vercel_ui", "mastra") and at[-1] == "content"}
    is_repeated = chain.format == "openhands"  # an event says its text in several members
    assert len(where - copies) == 1 or is_repeated or _several_texts(message.parts[place], where)


def _several_texts(part: Part, where: set[Any]) -> bool:
    """A result whose text lies in several blocks keeps the first."""
    return isinstance(part, ToolResult) and len(where) == 1


@given(st.data())
@examples(200)
def test_parts_added_and_dropped(data: st.DataObject) -> None:
    _name, content, chain = data.draw(st.sampled_from([item for item in chains() if item[2].format not in WITHOUT_IDS]))
    index = data.draw(st.integers(0, len(chain.messages) - 1))
    message = chain.messages[index]
    if message.role == HUMAN and message.source[0].text.startswith('"'):
        return  # a plain string holds one text and nothing else
    if message.label == "bashExecution":
        return  # a command and its output: neither can go alone
    is_signed = any(isinstance(part, Thinking) and part.signature for part in message.parts)
    if chain.format == "openhands" and (message.role == TOOL or is_signed):
        return  # a new event has no room for signatures; a result without a call id shows the id of its event
    parts = list(message.parts)
    if parts and data.draw(st.booleans()):
        del parts[data.draw(st.integers(0, len(parts) - 1))]
    if chain.format == "goose" and message.role == TOOL and not parts:
        return  # only its results tell a tool's message from the user's
    if message.role in (HUMAN, AI) and data.draw(st.booleans()):
        parts.insert(data.draw(st.integers(0, len(parts))), Text(data.draw(st.text(min_size=1, max_size=5))))
    if message.role == AI and data.draw(st.booleans()):
        parts.append(ToolCall("new", "tool", '{"a": 1}'))
    changed = replace(message, parts=tuple(parts))
    again, edited = written(chain, index, changed)
    assert _canonical(again.parts) in [_canonical(parts) for parts in _nearest(chain.format, changed)]
    document = exported(content, chain, edited.messages)
    before, after = values(content[chain.envelope.region.start : chain.envelope.region.end]), values(document)
    reloaded = load_file(document, chain.format)
    if changed.parts and chain.format != "claude_code":
        assert sum(len(item.messages) for item in reloaded) >= 1
    at = len(chain.envelope.inside) + 1
    if not chain.envelope.lines and not chain.envelope.single and chain.envelope.lists is None:
        assert len({pointer[:at] for pointer in differing(before, after)}) <= 1


def _canonical(parts: tuple[Part, ...]) -> list[Part]:
    """Reasoning, content, calls: the order of chat messages. A refusal stands behind the content; a legacy call and one
    with broken arguments (LangChain) come last. Ids that only show do not count."""
    plain = [replace(part, id="") if isinstance(part, ToolCall) and has_shown_id(part) else part for part in parts]
    plain = [replace(part, call_id="") if isinstance(part, ToolResult) and has_shown_id(part) else part for part in plain]
    return sorted(plain, key=lambda part: (isinstance(part, ToolCall), not isinstance(part, Thinking), _last(part)))


def _last(part: Part) -> bool:
    if isinstance(part, ToolCall):
        return part.name == "calc" or not is_json(part.arguments)
    return isinstance(part, Text) and part.text.startswith("I can't help")


def _nearest(form: str, message: Message) -> list[tuple[Part, ...]]:
    """Return the content that may be read back: an empty text for a message without parts, or a result without content."""
    if form in ONE_TEXT and message.role != TOOL and message.parts:
        return [_with_one_text(message.parts)]
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    if form in ("copilot_cli", "forge") and len(texts) > 1:
        return [(Text("\n\n".join(texts)), *(part for part in message.parts if not isinstance(part, Text)))]
    if message.parts:
        return [message.parts]
    old = get_format(form).message(message.role, message.source).parts
    emptied = [(ToolResult(part.call_id, part.name, "", part.is_error),) for part in old if isinstance(part, ToolResult)]
    return [(), (Text(""),), *emptied]


def _with_one_text(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Texts are joined; beside calls there need be none."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    others = tuple(part for part in parts if not isinstance(part, Text))
    said = "\n".join(texts)
    return (Text(said), *others) if said or not any(isinstance(part, ToolCall) for part in others) else others


def test_a_text_of_copilot_goes_with_its_copy() -> None:
    """The person's words stand beside what was sent, with attachments."""
    chain, index = next(
        (chain, index)
        for _, _, chain in chains()
        if chain.format == "copilot_cli"
        for index, each in enumerate(chain.messages)
        if "transformedContent" in each.source[0].text
    )
    parts = chain.messages[index].parts
    assert isinstance(parts[0], Text) and len(parts) > 1
    again, edited = written(chain, index, replace(chain.messages[index], parts=parts[1:]))
    assert again.parts == parts[1:]
    assert "Which dock" not in edited.messages[index].source[0].text
    again, _ = written(chain, index, replace(chain.messages[index], parts=(*parts, Text("And when?"))))
    assert again.parts == (Text(f"{parts[0].text}\n\nAnd when?"), *parts[1:])


@pytest.mark.parametrize("form", ["openai_chat", "anthropic", "claude_code"])
def test_roles_change_where_they_can(form: str) -> None:
    for _, content, chain in chains():
        if chain.format != form:
            continue
        for index, message in enumerate(chain.messages):
            if message.role in (HUMAN, AI) and all(isinstance(part, Text) for part in message.parts):
                other = AI if message.role == HUMAN else HUMAN
                again, edited = written(chain, index, replace(message, role=other))
                assert again.parts == message.parts
                where = differing(values(content), values(exported(content, chain, edited.messages)))
                if chain.envelope.region.end == len(content):
                    assert all(at[-1] in ("role", "type") for at in where)


@given(st.data())
@examples(200)
def test_written_anew_in_another_format(data: st.DataObject) -> None:
    _, _, chain = data.draw(st.sampled_from(chains()))
    target = get_format(data.draw(st.sampled_from(["openai_chat", "anthropic", "langchaingo", "neutral"])))
    message = data.draw(st.sampled_from(chain.messages))
    bare = replace(message, source=())
    written_anew = target.write(bare, Style())
    again = target.message(bare.role, written_anew)
    json.loads(written_anew[0].text)
    if target.name == "neutral" and not any(type(part).__name__ == "Opaque" for part in message.parts):
        assert again == bare
    texts = [part.text for part in bare.parts if isinstance(part, Text)]
    calls = [(part.id, part.name) for part in bare.parts if isinstance(part, ToolCall) and part.has_function]
    results = "\n".join(part.content for part in bare.parts if isinstance(part, ToolResult))
    assert again.role == bare.role
    if bare.role == TOOL:
        assert "\n".join(part.content for part in again.parts if isinstance(part, ToolResult)) == results
    else:
        # a chat message without text has an empty one
        assert "".join(part.text for part in again.parts if isinstance(part, Text)) == "".join(texts)
    if all(part.has_function for part in bare.parts if isinstance(part, ToolCall)):
        assert [(part.id, part.name) for part in again.parts if isinstance(part, ToolCall)] == calls
    else:
        assert target.name != "anthropic" or target.losses(bare)


def test_arguments_keep_their_spelling() -> None:
    document = b'[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{ "b":1.50,"a" : [ ] }}]}]'
    (chain,) = load_file(document)
    call = chain.messages[0].parts[0]
    assert isinstance(call, ToolCall)
    assert call.arguments == '{ "b":1.50,"a" : [ ] }'
    changed = replace(chain.messages[0], parts=(replace(call, arguments="not json"),))
    again = restyle(chain.messages, 0, changed, "anthropic", chain.envelope)
    assert '"input":{"_raw":"not json"}' in again.source[0].text


def test_three_states_of_content_are_kept() -> None:
    document = dump([{"role": "assistant", "content": None}, {"role": "assistant"}, {"role": "assistant", "content": ""}])
    (chain,) = load_file(document.encode())
    assert [len(message.parts) for message in chain.messages] == [0, 0, 1]
    for index, message in enumerate(chain.messages):
        named = replace(message, role=HUMAN)
        text = restyle(chain.messages, index, named, "openai_chat", chain.envelope).source[0].text
        assert text == message.source[0].text.replace("assistant", "user")


def test_a_redacted_result_leaves_no_copy_behind() -> None:
    _name, _content, chain = next(item for item in chains() if item[0] == "claude_code/ok_session.jsonl")
    result = chain.messages[2]
    hidden = replace(result, parts=(replace(result.parts[0], content="[gone]"),))  # type: ignore[call-arg]
    styled = restyle(chain.messages, 2, hidden, chain.format, chain.envelope)
    assert "README.md" not in styled.source[0].text
