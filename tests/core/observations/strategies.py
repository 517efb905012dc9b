"""Results whose texts try to break out of every convention."""

from __future__ import annotations

from hypothesis import strategies as st

from chainviz.core.observations.contract import Block
from tests.core.text_formats.hostile import LINES

TOOLS = ("a", "b", "get_weather", "my tool", "A")

contents = st.lists(st.sampled_from(LINES), max_size=5).map("\n".join)
blocks = st.builds(Block, st.sampled_from((*TOOLS, "error")), contents)
block_lists = st.lists(blocks, min_size=1, max_size=4)
conventions = st.sampled_from(["brackets", "markdown", "xml"])
wrappers = st.sampled_from(["auto", "none", "section"])
