"""Draw the growth of a chain as a small SVG: solid for recorded, dashed for stored tokens, a dotted line for the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainviz.chains.render.visible_text import safe
from chainviz.web.formatting import round_tokens_text

WIDTH, HEIGHT = 312, 122
LEFT, RIGHT, TOP, BOTTOM = 38, 304, 12, 100
MOST_WINDOWS = 4
"""The most windows that fit into the height of the chart."""
Line = Sequence[tuple[int, int]]
"""Turn and tokens."""


@dataclass(frozen=True, slots=True)
class GrowthLines:
    recorded: Line
    stored: Line
    window: int | None
    turns: int
    passing: int | None
    """The turn at which the stored chain exceeds the window."""


def growth_svg(lines: GrowthLines, label: str) -> str:
    scale = _Scale(lines)
    ticks = [0, scale.most // 2, scale.most]
    grid = "".join(f"M{LEFT} {scale.y(tick):.1f}H{RIGHT}" for tick in ticks)
    limit = f'<path class="limit" d="M{LEFT} {scale.y(lines.window):.1f}H{RIGHT}"/>' if lines.window else ""
    heights = "".join(
        f'<text x="{LEFT - 4}" y="{scale.y(tick) + 3:.1f}" text-anchor="end">{round_tokens_text(tick)}</text>' for tick in ticks
    )
    drawn = "".join(
        f'<polyline class="{name}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in scale.points(line))}"/>'
        for name, line in (("stored", lines.stored), ("recorded", lines.recorded))
        if line
    )
    return (
        f'<svg class="growth-chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{safe(label)}">'
        f'<path class="grid" d="{grid}"/>{limit}{heights}{drawn}{_turns(lines, scale)}</svg>'
    )


def _turns(lines: GrowthLines, scale: _Scale) -> str:
    y = BOTTOM + 18
    marks = f'<text x="{LEFT}" y="{y}">turn 1</text><text x="{RIGHT}" y="{y}" text-anchor="end">{lines.turns:,}</text>'
    if lines.passing is None or lines.window is None:
        return marks
    x = scale.x(lines.passing)
    marks += f'<circle class="meet" cx="{x:.1f}" cy="{scale.y(lines.window):.1f}" r="3"/>'
    is_free = LEFT + 50 < x < RIGHT - 40
    return marks + (f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{lines.passing:,}</text>' if is_free else "")


class _Scale:
    def __init__(self, lines: GrowthLines) -> None:
        self.turns = lines.turns
        recorded, stored = (max((tokens for _, tokens in line), default=0) for line in (lines.recorded, lines.stored))
        # what is stored may be far larger than the window: it leaves the chart there
        window = lines.window or stored
        self.most = max(recorded, window, min(stored, MOST_WINDOWS * window), 1)

    def x(self, turn: int) -> float:
        return LEFT + (turn - 1) / max(1, self.turns - 1) * (RIGHT - LEFT)

    def y(self, tokens: int) -> float:
        return BOTTOM - min(1.0, tokens / self.most) * (BOTTOM - TOP)

    def points(self, line: Line) -> list[tuple[float, float]]:
        """Return the points up to the first that is above the chart."""
        found: list[tuple[float, float]] = []
        for turn, tokens in line:
            found.append((self.x(turn), self.y(tokens)))
            if tokens > self.most:
                break
        return found
