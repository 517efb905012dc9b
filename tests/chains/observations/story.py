"""Chains with results in every convention."""

from __future__ import annotations

import json
from typing import Any

from tests.chains.making import ai, human, result

DOT = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEA/pnsWgAAAABJRU5ErkJggg=="


def action(*calls: tuple[str, Any]) -> str:
    """An answer that calls tools in its text."""
    said = json.dumps([{"tool": tool, "args": args} for tool, args in calls])
    return f"<thinking>I look.</thinking>\n<action>\n{said}\n</action>"


def with_pictures(text: str, *urls: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}, *({"type": "image_url", "image_url": {"url": url}} for url in urls)]


CONVENTIONS: list[dict[str, Any]] = [
    human("Rebook HX 412"),
    ai(action(("get_customer", {"booking": "K7"}), ("get_weather", {"city": "Oslo"}))),
    human('<observation>\n[get_customer]\n{"party":3}\n[get_weather] Error: timeout\n</observation>'),
    ai('# action\n{"tool": "get_seat_map", "args": {}}'),
    human(with_pictures("# get_seat_map\n14A is free", DOT, "https://tickets.example.org/x.png")),
    ai(action(("read_rules", {"fare": "FLEX"}))),
    human("<observation>\n<read_rules>\nFare FLEX\n# Changes\nfree\n</read_rules>\n</observation>"),
    ai(action(("broken", []))),
    human("<observation>\n<error>\nError: invalid action\n</error>\n</observation>"),
    human("[INFO] started"),
    ai(None, ("c1", "book", {"flight": "HX 418"}), ("c2", "mail", {"to": "a"})),
    result("c1", '{"pnr": "Z<b>"}'),
    result("c2", "Error: mailbox full"),
    ai("Done."),
]
"""7 results: 2 in brackets, 1 in Markdown, 2 in XML, 2 in tool messages; one message only looks like results."""


def rounds(count: int) -> list[dict[str, Any]]:
    """Native results and such in XML, in turn."""
    messages: list[dict[str, Any]] = [human("Go")]
    for n in range(count):
        messages += [
            ai(None, (f"c{n}", "read_file", {"n": n})),
            result(f"c{n}", f"file {n}" if n % 7 else "Error: gone"),
            ai(action(("lookup", {"n": n}))),
            human(f"<observation>\n<lookup>\nanswer {n}\n</lookup>\n</observation>"),
        ]
    return messages
