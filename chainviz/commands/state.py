"""`chainviz state`: check and salvage a conversation state; for any other chain, print what would be stored and sent."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chainviz.api.chain import Chain, load
from chainviz.api.state import read_state
from chainviz.api.writing import write_out
from chainviz.commands.io import add_choice, tell
from chainviz.core.counts import count_text
from chainviz.core.errors import DocumentError, OptionsError, Refused, excerpt
from chainviz.core.state.document import DIALECTS, State, write_state
from chainviz.core.state.export import NextCall, is_state_format, provider_of
from chainviz.core.state.faults import Salvaged, StateFile, salvage

SHOWN = 70


def add_state_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a state document, or any transcript; - reads standard input")
    parser.add_argument("--provider", default="", choices=list(DIALECTS), help="the provider that must be able to continue the state")
    parser.add_argument("--salvage", action="store_true", help="list the readable messages of a broken state")
    parser.add_argument(
        "--leading", action="append", metavar="TEXT", help="a system message of the next call (default: those of the chain)"
    )
    parser.add_argument("--user", default="", metavar="TEXT", help="the user message of the next call")
    parser.add_argument("--processed-length", type=int, metavar="N", help="how many stored messages of the chain the model has seen")
    add_choice(parser)
    parser.add_argument("--out", metavar="FILE", help="write the state, with --salvage its readable messages; - is standard output")
    parser.add_argument("--json", action="store_true", help="print one object")


def run_state(arguments: argparse.Namespace) -> int:
    content = _content(arguments.file)
    chains = _chains(content)
    if chains and not is_state_format(chains[0].format):
        return _run_chain(_chosen(chains, arguments.chain), arguments)
    file = read_state(content, arguments.provider)
    salvaged = salvage(file, arguments.provider) if arguments.salvage else None
    if arguments.out:
        # refused if there is a problem, so that no state is overwritten with an incomplete one
        state = salvaged.state if salvaged else file.opened()
        write_out(arguments.out, iter([write_state(state or State(arguments.provider))]))
    if arguments.out != "-":
        call = _call(chains[0], arguments) if len(chains) == 1 and not file.problem else None
        told = _object(file, salvaged) | ({"next_call": _call_object(call)} if call else {})
        lines = [*_lines(arguments.file, file, salvaged), *(_call_lines(call) if call else ())]
        tell([json.dumps(told)] if arguments.json else lines)
    return 1 if file.problem else 0


def _chains(content: bytes) -> list[Chain]:
    """Return the chains; empty if the file is not a transcript, for which `read_state` gives the reason."""
    try:
        return load(content) if content else []
    except DocumentError:
        return []


def _chosen(chains: list[Chain], number: int | None) -> Chain:
    if number is None and len(chains) > 1:
        raise OptionsError(f"The file holds {count_text(len(chains), 'chain')}; choose one with --chain.")
    if not 1 <= (number or 1) <= len(chains):
        raise OptionsError(f"The file holds {count_text(len(chains), 'chain')}; there is no chain {number}.")
    return chains[(number or 1) - 1]


def _run_chain(chain: Chain, arguments: argparse.Namespace) -> int:
    if arguments.salvage:
        raise Refused("This is not a state document, so there is nothing to salvage.")
    if arguments.out:
        state = chain.state(arguments.provider, arguments.processed_length)
        write_out(arguments.out, iter([write_state(state)]))
    if arguments.out != "-":
        provider = provider_of(chain.format)
        call = _call(chain, arguments)
        told = {"format": chain.format, "provider": provider or None, "next_call": _call_object(call)}
        lock = f"{provider} only" if provider else "no provider stores messages in this format"
        lines = [f"{arguments.file}: {chain.format}, {lock}", *_call_lines(call)]
        tell([json.dumps(told)] if arguments.json else lines)
    return 0


def _call(chain: Chain, arguments: argparse.Namespace) -> NextCall:
    return chain.next_call(arguments.leading, arguments.user, arguments.processed_length)


def _call_lines(call: NextCall) -> Iterator[str]:
    stored = f"{count_text(len(call.stored), 'message')}, {count_text(call.stored.size, 'byte')}"
    sent = f"{count_text(call.sent_count, 'message')}, {count_text(call.sent_size, 'byte')}, about {count_text(call.tokens(), 'token')}"
    yield f"  would be stored: {stored}; {call.seen:,} seen by the model"
    yield f"  would be sent: {sent}"
    yield from (f"  {warning}" for warning in call.warnings)


def _call_object(call: NextCall) -> dict[str, Any]:
    return {
        "stored": {"messages": len(call.stored), "bytes": call.stored.size, "seen": call.seen},
        "sent": {"messages": call.sent_count, "bytes": call.sent_size, "tokens": call.tokens()},
        "warnings": list(call.warnings),
    }


def _content(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise DocumentError(f"{name} cannot be opened: {error.strerror or error}.") from None


def _lines(name: str, file: StateFile, salvaged: Salvaged | None) -> Iterator[str]:
    state, found = file.found, "valid" if file.problem is None else str(file.problem)
    yield f"{name}: {found}"
    for fault, result in file.checks:
        yield f"  {fault.value.replace('_', ' ')}: {result}"
    yield (
        f"  version {file.version}, provider {state.provider or 'none'}, {count_text(len(state.messages), 'message')}, "
        f"{state.seen:,} seen by the model, {len(state.messages) - state.seen:,} appended since"
    )
    if salvaged is not None:
        yield f"  {count_text(len(salvaged.state.messages), 'message')} can be read"
        for gap in salvaged.gaps:
            yield f"  message {gap.place + 1:,} cannot: {gap.reason} {excerpt(gap.text, SHOWN)}"


def _object(file: StateFile, salvaged: Salvaged | None) -> dict[str, Any]:
    state, problem = file.found, file.problem
    told: dict[str, Any] = {
        "version": file.version,
        "provider": state.provider,
        "messages": len(state.messages),
        "processed_length": state.processed_length,
        "checks": {fault.value: result for fault, result in file.checks},
        "problem": None,
    }
    if problem is not None:
        place = {"line": problem.line, "column": problem.column, "message": problem.message}
        told["problem"] = {"fault": problem.fault.value, "text": problem.text, **place}
    if salvaged is not None:
        told["readable"] = len(salvaged.state.messages)
        told["gaps"] = [{"message": gap.place, "reason": gap.reason} for gap in salvaged.gaps]
    return told
