"""Commands for conversation states: `state` checks and salvages them, `simulate` shows when strategies would compact a chain."""

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
from chainviz.commands.io import add_choice, add_file, add_format, add_json, chosen, opened, tell, value_of
from chainviz.core.counts import count_text
from chainviz.core.errors import DocumentError, OptionsError, Refused, excerpt
from chainviz.core.operations.compact.simulation import ESTIMATES, PLAIN, Lost, Simulated, Simulation
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


def add_simulate_arguments(parser: argparse.ArgumentParser) -> None:
    add_file(parser, "file")
    parser.add_argument(
        "--strategy", action="append", default=[], metavar="NAME=JSON", help="a strategy; NAME=@FILE reads it from a file; may be repeated"
    )
    parser.add_argument("--turn", type=int, metavar="N", help="the turn to look at (default: the last one)")
    add_format(parser)
    add_choice(parser)
    add_json(parser)


def run_simulate(arguments: argparse.Namespace) -> int:
    strategies = dict(_parse_strategy(given) for given in arguments.strategy)
    with opened(arguments.file, arguments) as file:
        for chain in chosen(file, arguments.chain):
            simulation = chain.simulate(strategies)
            turn = _turn(simulation, arguments.turn)
            tell([json.dumps(_simulation_object(simulation, turn))] if arguments.json else _simulation_lines(chain.title, simulation, turn))
    return 0


def _parse_strategy(given: str) -> tuple[str, str]:
    name, sign, value = given.partition("=")
    if not sign or not name.strip() or "{" in name:
        raise OptionsError(f"--strategy needs NAME=JSON or NAME=@FILE, not “{given[:40]}”.")
    if name in (PLAIN, *ESTIMATES):
        raise OptionsError(f"“{name}” is the name of a built-in line; choose another one.")
    return name, value_of(name, value)


def _turn(simulation: Simulation, given: int | None) -> int:
    """Return the index of the turn, from 0."""
    count = len(simulation.turns)
    if given is not None and not 1 <= given <= count:
        raise OptionsError(f"The chain has {count:,} complete turn{'' if count == 1 else 's'}; there is no turn {given:,}.")
    return (given or count) - 1


def _simulation_lines(title: str, simulation: Simulation, turn: int) -> Iterator[str]:
    count = len(simulation.turns)
    yield f"{title}: {count:,} complete turn{'' if count == 1 else 's'}"
    for line in simulation.lines if count else ():
        yield f"  {line.line.name}: about {count_text(line.tokens()[turn], 'token')} in turn {turn + 1:,}, at most {max(line.tokens()):,}"
        for firing in line.firings:
            removed = f"{count_text(firing.removed, 'message')}, {count_text(firing.removed_bytes, 'byte')}"
            yield f"    fired after turn {firing.turn + 1:,}: {removed} removed"
        if line.firings:
            yield f"    lost by turn {turn + 1:,}: {_lost_words(simulation.lost(line, turn))}"


def _lost_words(lost: Lost) -> str:
    counts = ((lost.turns, "turn"), (lost.messages, "message"), (lost.results, "tool result"), (lost.systems, "system message"))
    return ", ".join(count_text(*each) for each in (*counts, (lost.size, "byte")))


def _simulation_object(simulation: Simulation, turn: int) -> dict[str, Any]:
    return {"turns": len(simulation.turns), "lines": [_line(simulation, each, turn) for each in simulation.lines]}


def _line(simulation: Simulation, line: Simulated, turn: int) -> dict[str, Any]:
    fired = [{"turn": each.turn + 1, "messages": each.removed, "bytes": each.removed_bytes} for each in line.firings]
    told: dict[str, Any] = {"name": line.line.name, "bytes": line.sizes, "tokens": line.tokens(), "fired": fired}
    if line.firings:
        lost = simulation.lost(line, turn)
        counts = {"turns": lost.turns, "messages": lost.messages, "results": lost.results, "systems": lost.systems}
        told["lost"] = {"by_turn": turn + 1, **counts, "bytes": lost.size}
    return told
