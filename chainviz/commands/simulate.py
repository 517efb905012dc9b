"""`chainviz simulate`: show when compaction strategies would have compacted a chain, and how large each request would have been."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from chainviz.commands.io import add_choice, add_file, add_format, add_json, chosen, opened, tell, value_of
from chainviz.core.counts import count_text
from chainviz.core.errors import OptionsError
from chainviz.core.operations.compact.simulation import ESTIMATES, PLAIN, Lost, Simulated, Simulation


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
            tell([json.dumps(_object(simulation, turn))] if arguments.json else _lines(chain.title, simulation, turn))
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


def _lines(title: str, simulation: Simulation, turn: int) -> Iterator[str]:
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


def _object(simulation: Simulation, turn: int) -> dict[str, Any]:
    return {"turns": len(simulation.turns), "lines": [_line(simulation, each, turn) for each in simulation.lines]}


def _line(simulation: Simulation, line: Simulated, turn: int) -> dict[str, Any]:
    fired = [{"turn": each.turn + 1, "messages": each.removed, "bytes": each.removed_bytes} for each in line.firings]
    told: dict[str, Any] = {"name": line.line.name, "bytes": line.sizes, "tokens": line.tokens(), "fired": fired}
    if line.firings:
        lost = simulation.lost(line, turn)
        counts = {"turns": lost.turns, "messages": lost.messages, "results": lost.results, "systems": lost.systems}
        told["lost"] = {"by_turn": turn + 1, **counts, "bytes": lost.size}
    return told
