"""A chain that has something to summarize: old sections, a large pair, a last section that is too long."""

from __future__ import annotations

from typing import Any

from chainviz.chains.models import Chain
from tests.chains.making import ai, human, make_chain, result


def work(number: int, size: int) -> list[dict[str, Any]]:
    """Return a pair with a tool whose output contains facts and has `size` bytes."""
    call = f"call_{number}"
    lines = [
        f"src/part_{number}/module_{number}.py:{number * 10} ok",
        f"ERROR: cannot open /var/log/app_{number}.log: permission denied",
        f"see https://example.org/issues/{number} for ABC-{1000 + number}",
    ]
    filler = "\n".join(f"line {line} of output {number}" for line in range(max(1, size // 24)))
    return [
        ai("I look.", (call, "run_shell", {"command": f"pytest tests/part_{number} -x"})),
        result(call, "\n".join([*lines, filler])[:size]),
    ]


def story(sections: int = 3, pairs: int = 3, size: int = 2_000) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You fix what is broken."}]
    number = 0
    for section in range(1, sections + 1):
        messages.append(human(f"Please look at part {section}: <b>it</b> fails."))
        for _ in range(pairs):
            number += 1
            messages += work(number, size)
        messages.append(ai(f"Part {section} failed because the clock was wrong. I decided to fix module {section}."))
    return messages


def summarizable(**size: int) -> Chain:
    return make_chain(story(**size))
