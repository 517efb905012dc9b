"""Messages of the same form are looked at once. Each needs the passes that it would need if it was looked at on its own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Message
from chainviz.core.operations.repair import RepairOptions, session
from chainviz.core.operations.repair.operation import LOOKS, propose
from tests.core.formats.test_usual_messages import LIKELY, loaded
from tests.examples import examples
from tests.store.test_usual_rows import MESSAGES


@given(st.lists(LIKELY | MESSAGES, min_size=1, max_size=8))
@examples(300)
def test_the_same_passes_and_fixes_are_found(values: list[dict[str, Any]]) -> None:
    chain = MemoryChain(loaded([*values, *values]).messages, "openai_chat")
    found = session.Worklist(chain, RepairOptions(), LOOKS)._found, propose(chain)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "form_of_contents", lambda message: None)
        assert found == (session.Worklist(chain, RepairOptions(), LOOKS)._found, propose(chain))


def test_one_of_many_alike_is_looked_at() -> None:
    talk = [{"role": "user", "content": f"question {number}"} for number in range(50)]
    seen: list[Message] = []
    session.Worklist(MemoryChain(loaded(talk).messages, "openai_chat"), RepairOptions(), [lambda message: bool(seen.append(message))])
    assert len(seen) == 1
