"""What an edit leaves behind in one format only."""

from __future__ import annotations

from chainviz.core.chain import MemoryChain
from chainviz.core.messages import Message, Text
from chainviz.core.operations.contract import Context
from chainviz.core.operations.edit import Edit, EditOptions

TALK = tuple(Message(role, (Text(f"{role} {n}", origin=0),)) for n in range(2) for role in ("human", "ai"))


def said(format: str, path: str) -> str:
    chain = MemoryChain(TALK, format)
    return " ".join(Edit().run(chain, EditOptions(action="delete", path=path), Context()).warnings)


def test_who_deletes_a_line_of_a_claude_code_session_learns_about_parents() -> None:
    assert "parentUuid" in said("claude_code", "s1.p1")
    assert "parentUuid" not in said("claude_code", "s2.p1"), "nothing follows that could name it"
    assert "parentUuid" not in said("openai_chat", "s1.p1")
