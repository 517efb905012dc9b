"""What of a session has to change so that its API accepts it with one more message: no more than the API rejects."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from itertools import islice

from chainviz.api.chain import Chain, Result, chains_of, document_of
from chainviz.api.comparison import diff
from chainviz.api.file import open_file
from chainviz.api.in_turn import in_turn
from chainviz.core.diff.text import render
from chainviz.core.errors import Refused
from chainviz.core.providers import PROVIDERS, get_provider
from chainviz.core.providers.contract import Provider

SPOKEN = {"claude_code": "anthropic", "codex_rollout": "openai-responses", "pi_session": "anthropic"}
"""The provider that an agent with sessions in this format talks to."""
USUAL = "openai-chat"
APIS = {"anthropic-messages": "anthropic", "openai-completions": "openai-chat", "openai-responses": "openai-responses"}
"""What pi and OpenClaw, which talk to several providers, record with every answer as its `api`."""
MOST_LINES = 12
"""Lines of a changed text that are shown."""
MOST_CHANGES = 1_000
"""Lines of a difference that are kept."""


@dataclass(frozen=True, slots=True)
class FixedChain:
    before: Chain
    provider: Provider
    result: Result
    """Its warnings say what remains."""
    changes: tuple[str, ...]
    """The difference, a line each."""

    @property
    def is_changed(self) -> bool:
        return bool(self.changes)

    @property
    def title(self) -> str:
        return self.before.title


@dataclass(frozen=True, slots=True)
class FixedSession:
    old: bytes
    new: bytes
    cut: tuple[int, ...]
    """Numbers of the lines that are not valid JSON and go."""
    chains: tuple[FixedChain, ...]

    @property
    def is_changed(self) -> bool:
        return self.new != self.old

    @property
    def has_errors_left(self) -> bool:
        return any(each.result.warnings for each in self.chains)


def fix_session(old: bytes, name: str, format: str | None = None, provider: Provider | None = None) -> FixedSession:
    """`name` stands in sentences; `provider` takes the place of the one that the session's format belongs to.

    Raises DocumentError where no chain can be read, Refused where the file cannot be written back whole.
    """
    kept, cut = _whole_lines(old)
    file = open_file(kept, name, format, salvage=True)
    with file.source:
        if cut and not all(chain.envelope.lines for chain in file.chains):
            raise Refused(f"{name}: line {cut[0]} is not valid JSON. Nothing was written.")
        fixed, chains = in_turn(chains_of(file), partial(_fixed, provider or _recorded(kept)))
        new = b"".join(document_of(chains)) if any(each.is_changed for each in fixed) else kept
    return FixedSession(old, new, tuple(cut), tuple(fixed))


def _fixed(provider: Provider | None, chain: Chain) -> tuple[Chain, FixedChain]:
    goal = provider or provider_of(chain.format)
    result = chain.apply("repair", goal=goal.name, resumes=True)
    is_changed = result.chain is not chain
    # the comparison reads the file, which is open only now
    lines = render(diff(chain, result.chain).chains, most_lines=MOST_LINES) if is_changed else ()
    return result.chain, FixedChain(chain, goal, result, tuple(islice(lines, MOST_CHANGES)))


def _recorded(content: bytes) -> Provider | None:
    """The provider of the last answer; None where the session does not record it."""
    for line in reversed(content.splitlines()):
        value = json.loads(line) if b'"api"' in line and _is_json(line) else None
        message = value.get("message") if isinstance(value, dict) else None
        name = APIS.get(str(message.get("api"))) if isinstance(message, dict) else None
        if name:
            return get_provider(name)
    return None


def provider_of(format: str) -> Provider:
    """The one that a session in this format usually talks to."""
    spoken = next((each.name for each in PROVIDERS if format in each.formats), SPOKEN.get(format, USUAL))
    return get_provider(spoken)


def _whole_lines(content: bytes) -> tuple[bytes, list[int]]:
    """JSON Lines without the lines that are not valid, and the numbers of those: a write was cut off, or two processes
    wrote at once. Anything else comes back as it is."""
    lines = content.splitlines(keepends=True)
    faulty = {number for number, line in enumerate(lines, 1) if line.strip() and not _is_json(line)}
    if len(faulty) * 2 > len(lines):
        return content, []
    return b"".join(line for number, line in enumerate(lines, 1) if number not in faulty), sorted(faulty)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
