"""Generated chains of a known shape for the bench: half AI messages with one call, half results, about 1.1 kB each."""

from __future__ import annotations

import json
import random
from pathlib import Path

WORDS = ("retry", "clock", "budget", "patch", "file", "test", "shell", "module", "worker", "cache", "token", "ledger")
MESSAGES_A_SECTION = 200


def write_chain(path: Path, messages: int, section: int = MESSAGES_A_SECTION, seed: int = 7, result: int = 1150) -> Path:
    """An OpenAI chat request of exactly `messages` messages; a human message opens every `section` of them. `result`: the
    length of a tool result."""
    rng = random.Random(seed)
    paragraph = " ".join(rng.choice(WORDS) for _ in range(4000))

    def text(length: int) -> str:
        start = rng.randrange(len(paragraph) - length)
        return paragraph[start : start + length]

    with path.open("w") as out:
        out.write('{"model": "made", "messages": [\n')
        call = ""
        for i in range(messages):
            if i % section == 0:
                message = {"role": "user", "content": f"Question {i}: {text(300)}"}
            elif i % section % 2 == 1 and i + 1 < messages and (i + 1) % section:
                call = f"call_{i:024d}"
                arguments = json.dumps({"command": text(700)})
                function = {"name": rng.choice(["run_shell", "read_file", "grep"]), "arguments": arguments}
                calls = [{"id": call, "type": "function", "function": function}]
                message = {"role": "assistant", "content": text(200), "tool_calls": calls}
            elif call:
                message = {"role": "tool", "tool_call_id": call, "content": text(result)}
                call = ""
            else:
                message = {"role": "assistant", "content": text(900)}
            out.write((",\n" if i else "") + json.dumps(message))
        out.write("\n]}\n")
    return path
