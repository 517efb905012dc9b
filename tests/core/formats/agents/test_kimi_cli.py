"""Sessions of Kimi CLI: whose lines are messages, and reasoning in parts of its own type."""

from __future__ import annotations

from dataclasses import replace

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Text, Thinking, ToolResult
from chainviz.core.load import load_file, restyle
from tests.core.formats.chains import exported, values
from tests.shared_folder import SAMPLES

CONTEXT = (SAMPLES / "kimi_cli" / "ok_context.jsonl").read_bytes()


def test_checkpoints_and_token_counts_are_no_messages() -> None:
    (chain,) = load_file(CONTEXT)
    assert [message.role for message in chain.messages] == [SYSTEM, HUMAN, AI, TOOL, AI]
    assert [span.ordinal for span in chain.envelope.carried] == [1, 3, 5, 7, 9]
    assert chain.messages[3].parts == (ToolResult("tool_a1", "", "<system>Command executed successfully.</system>\nci.yml\n"),)
    assert chain.messages[4].parts[0] == Thinking("It is empty.", "c2lnbmVk")


def test_an_edit_stays_in_its_leaf() -> None:
    (chain,) = load_file(CONTEXT)
    system, answer = chain.messages[0], chain.messages[4]
    system = replace(system, parts=(replace(system.parts[0], text="You are K."),))
    answer = replace(answer, parts=(replace(answer.parts[0], content="Empty!", signature="bmV3"), *answer.parts[1:]))
    first = restyle(chain.messages, 0, system, chain.format, chain.envelope)
    last = restyle(chain.messages, 4, answer, chain.format, chain.envelope)
    after = exported(CONTEXT, chain, (first, *chain.messages[1:4], last))
    changes = ((b"You are Kimi. The directory is /srv/app.", b"You are K."), (b"It is empty.", b"Empty!"), (b"c2lnbmVk", b"bmV3"))
    wanted = CONTEXT
    for old, new in changes:
        wanted = wanted.replace(old, new)
    assert after == wanted


def test_new_reasoning_is_written_as_kimi_reads_it() -> None:
    (chain,) = load_file(CONTEXT)
    new = restyle(chain.messages, 5, Message(AI, (Thinking("Done."), Text("Bye."))), chain.format, chain.envelope)
    line = values(exported(CONTEXT, chain, (*chain.messages, new)))[-2]
    assert line["content"] == [{"type": "think", "think": "Done."}, {"type": "text", "text": "Bye."}]
