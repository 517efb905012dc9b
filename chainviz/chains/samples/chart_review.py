"""The sample with reasoning and images: a person shows two charts, drawn here, and asks about them."""

from __future__ import annotations

import base64
import json
import math
import struct
import zlib
from collections.abc import Callable
from typing import Any

from chainviz.chains.samples.coding_run import describe_tool

WIDTH, HEIGHT = 480, 200
PAPER, GRID, INK, WARM = b"\xfb\xfb\xfd", b"\xe1\xe4\xea", b"\x3b\x5b\xdb", b"\xd9\x6b\x27"

TASK = (
    "These are the temperatures of our two cold rooms over the last week, one reading every 20 minutes. "
    "Room A is fine as far as I know. Something is wrong with room B, but the alarm stayed silent. What do you see?"
)
LOOK = (
    "Two charts. Room A: a saw tooth between 2.4 and 4.1 °C, about 90 minutes each; that is a compressor switching on and "
    "off, nothing else. Room B: the same tooth, but its lower edge climbs from Wednesday on, and once a day there is a "
    "broad hump of a degree and a half. The alarm probably looks at the average of an hour, and the hump stays under 8 °C.\n"
    "I should not guess the limits; there is a tool for the alarm's rule. Then check door and defrost times against the humps."
)
WEIGH = (
    "The defrost starts at 04:10 and should take 25 minutes. In room B the heater reports 25 minutes on Monday and 96 on "
    "Saturday. So the defrost ends by the time-out, not by the coil sensor: the sensor reads too cold. That explains both "
    "signs: a longer hump, and ice left elsewhere, hence the climbing lower edge. The door is innocent: it is shut at 04:10."
)

REPAIRED = "The electrician refastened the sensor this morning. This is today. Is it good again?"


def build() -> bytes:
    document = {
        "model": "claude-opus-4-5",
        "max_tokens": 4096,
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "system": "You help the caretaker of a small food warehouse. Explain plainly; name what you are not sure of.",
        "tools": [describe_tool("alarm_rule", "room"), describe_tool("device_log", "device", "days")],
        "messages": [
            {"role": "user", "content": [_text(TASK), _text("Room A"), _image(_steady), _text("Room B"), _image(_drifting)]},
            {"role": "assistant", "content": [
                _thinking(LOOK),
                _text("Room A looks healthy. Room B gets warmer from Wednesday on. I look up the alarm's rule and the defrost log."),
                _call("toolu_rule", "alarm_rule", room="B"), _call("toolu_log", "device_log", device="B/defrost", days="7"),
            ]},
            {"role": "user", "content": [
                _result("toolu_rule", [_text(json.dumps({"room": "B", "alarm_above": 8.0, "mean_of_minutes": 60, "door_ignored": False}))]),
                _result("toolu_log", [_text("\n".join(_defrost_log()))]),
            ]},
            {"role": "assistant", "content": [_thinking(WEIGH), _text(
                "The **defrost heater of room B runs too long**.\n\n"
                "| night | defrost | peak |\n|---|---|---|\n| Mon | 25 min | 5.0 °C |\n| Wed | 44 min | 5.8 °C |\n| Sat | 96 min | 7.2 °C |\n\n"
                "It ends by its time-out, no longer by the coil sensor. I think the sensor sits loose or has failed; I cannot see that from here.\n\n"
                "The alarm stayed silent because it looks at the **mean of 60 minutes above 8 °C**, and the hump ends just below."
            )]},
            {"role": "user", "content": [_text(REPAIRED), _image(_repaired)]},
            {"role": "assistant", "content": [
                {"type": "redacted_thinking", "data": base64.b64encode(bytes(range(7, 247, 5)) * 3).decode()},
                _text("Yes, as far as one day can show: the hump at 04:10 is short again, and the lower edge is back at 2.4 °C. "
                      "Look once more on Thursday. And I would set the alarm to 6.5 °C: then last week's Friday would have rung."),
            ]},
        ],
    }  # fmt: skip
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def _defrost_log() -> list[str]:
    minutes = {"mon": 25, "tue": 27, "wed": 44, "thu": 61, "fri": 83, "sat": 96, "sun": 96}
    ends = {day: "coil sensor 8.0 °C" if length < 90 else "TIME-OUT" for day, length in minutes.items()}
    return [f"{day} 04:10 heater on, off after {length:>2} min, ended by {ends[day]}" for day, length in minutes.items()]


def _steady(hour: float) -> float:
    return 3.25 + 0.85 * (2 * ((hour / 1.5) % 1) - 1)


def _drifting(hour: float) -> float:
    late = max(0.0, hour - 60) / 108
    hump = 1.4 * (0.4 + late) * math.exp(-(((hour % 24) - 4.9) ** 2) / (0.8 + 3 * late))
    return _steady(hour) + 1.3 * late + hump


def _repaired(hour: float) -> float:
    return _steady(hour) + 0.7 * math.exp(-(((hour % 24) - 4.4) ** 2) / 0.5)


def _image(curve: Callable[[float], float]) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(_chart(curve)).decode()}
    return {"type": "image", "source": source}


def _chart(curve: Callable[[float], float]) -> bytes:
    """Return a PNG of the curve over 168 hours, 0 to 10 degrees."""
    pixels = [bytearray(PAPER * WIDTH) for _ in range(HEIGHT)]
    for y in range(0, HEIGHT, HEIGHT // 10):
        pixels[y][:] = GRID * WIDTH
    for x in range(0, WIDTH, WIDTH // 7):
        for row in pixels:
            row[3 * x : 3 * x + 3] = GRID
    before = _row_of(curve(0))
    for x in range(WIDTH):
        value = curve(x * 168 / WIDTH)
        at = _row_of(value)
        for y in range(min(before, at), max(before, at) + 2):
            pixels[min(y, HEIGHT - 1)][3 * x : 3 * x + 3] = WARM if value > 5 else INK
        before = at
    raw = b"".join(b"\0" + row for row in pixels)
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(raw, 9)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _row_of(degrees: float) -> int:
    return HEIGHT - 1 - round(max(0.0, min(degrees, 10.0)) / 10 * (HEIGHT - 2))


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _thinking(text: str) -> dict[str, Any]:
    # Shaped like a signature, but signed by nobody: only its provider could make a valid one.
    return {"type": "thinking", "thinking": text, "signature": base64.b64encode(b"sample " + text[:60].encode()).decode()}


def _call(id: str, name: str, **arguments: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def _result(id: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}
