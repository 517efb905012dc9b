"""The parse panel: sections with their ranges, ignored text, calls with their errors, and the prompt; ReAct logs."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urlencode

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from chainviz.chains.models import Arrival, Chain
from chainviz.chains.parse.source_lines import IGNORED, spans
from chainviz.core.text_formats.xml import Xml
from tests.chains.making import ai, human, make_chain

pytestmark = pytest.mark.django_db
REPLY = """I do both.

<thinking>
No time before <answer> is known.
</thinking>

<action>
[
  {"tool": "hold_seats", "args": {"seats": ["14A"]}},
  {"args": {"city": "Oslo"}},
  {"tool": "get_weather", "args": ["Oslo"]}
]
</action>
<note>
later
</note>
<action>
{"tool": "get_flight", "args": {"flight": 12345678901234567890}}
</action>"""
LOG = """----- BEGIN -----
Question: Which lighthouse was lit first?
Thought 1: I search.
Action 1: Search[Kvarholm]
Observation 1: Two lighthouses.
Thought 2: It is clear.
Action 2: Finish[Old Tower]
Observation 2: Answer is CORRECT

Question: How long is the tunnel?
Thought 1: I look.
Action 1: Lookup[length
Observation 1: Invalid Action.
Thought 2: Done.
Action 2: Finish[4 km]
"""


@pytest.fixture
def chain() -> Chain:
    return make_chain([human("Go"), ai(REPLY), human("And?"), ai("# answer\nYes")])


def panel(chain: Chain, where: str = "s1.p1", **query: object) -> str:
    response = Client().get(f"/c/{chain.pk}/v/1/parse/{where}?{urlencode(query, doseq=True)}")
    assert response.status_code == 200
    return unescape(response.content.decode())


def lines(html: str) -> dict[int, str]:
    """Return the state of each source line, with its label, by number."""
    found = re.findall(r'<li id="line-(\d+)" data-n="\d+"([^>]*)><code>.*?</code>(?:<span class="src-label">(.*?)</span>)?', html)
    return {int(number): f"{_kind(rest)} {label}".strip() for number, rest, label in found}


def _kind(attributes: str) -> str:
    state = re.search(r'data-state="([\w-]+)"', attributes)
    return "ignored" if "data-ignored" in attributes else state[1] if state else ""


def test_source_lines_say_to_which_section_they_belong(chain: Chain) -> None:
    found = lines(panel(chain))
    assert found[1] == "ignored ignored"
    assert found[2] == ""
    assert [found[n] for n in (3, 4, 5)] == ["section-1 thinking", "section-1", "section-1"]
    assert found[7] == "section-2 action 1"
    assert found[14] == "ignored ignored"
    assert found[17] == "section-2 action 2"


def test_sections_ignored_text_and_missing_ones_are_listed(chain: Chain) -> None:
    html = panel(chain)
    assert "3 sections" in html
    assert re.search(r'class="sec"[^>]*data-none.*?<b>answer</b>', html)
    assert len(re.findall(r'class="sec"[^>]*data-ignored', html)) == 2
    assert "Strict mode would refuse this text. Line 4: thinking holds <answer>." in html


def test_one_wrong_call_rejects_its_section_and_each_shows_its_error(chain: Chain) -> None:
    html = panel(chain)
    assert html.count("rejected as a whole") == 1
    assert "valid, does not run" in html
    assert "Line 10, column 3: “tool” is missing" in html
    assert "Line 11, column 3: “args” must be an object, not a list" in html
    assert "12345678901234567890" in html


def test_yaml_takes_the_call_without_arguments(chain: Chain) -> None:
    html = panel(chain, syntax="yaml")
    assert "“args” must be" not in html
    assert "“tool” is missing" in html


def test_strict_mode_refuses(chain: Chain) -> None:
    assert "Ambiguous tags: the section thinking holds <answer>." in panel(chain, strict=1)


def test_a_format_without_sections_names_the_other_one(chain: Chain) -> None:
    html = panel(chain, format="markdown")
    assert "No sections found in the Markdown text; looked for thinking, action, answer." in html
    assert "As XML it has sections." in html


def test_the_prompt_asks_for_the_sections_and_guidance_entered(chain: Chain) -> None:
    html = panel(chain, section=["plan", "action", "", "PLAN"], guidance=["Think <b>first</b>."], format="xml")
    assert "<plan>\nThink <b>first</b>.\n</plan>\n<action>\n\n</action>\n" in html
    assert "Think &lt;b&gt;" in Client().get(f"/c/{chain.pk}/v/1/parse/s1.p1?section=a&guidance=Think+<b>").content.decode()


def test_any_section_reads_what_is_not_registered(chain: Chain) -> None:
    assert ">note</b>" in panel(chain, any=1)


def test_the_way_to_the_messages_around(chain: Chain) -> None:
    assert re.search(r'href="[^"]*/parse/s2.p1" data-step="next"', panel(chain))
    assert re.search(r'href="[^"]*/parse/s1.p1" data-step="previous"', panel(chain, "s2.p1"))


@pytest.mark.parametrize("where", ["s1", "s9.p1", "s1.p1.m4", "nonsense"])
def test_what_is_no_message_is_not_there(chain: Chain, where: str) -> None:
    assert Client().get(f"/c/{chain.pk}/v/1/parse/{where}").status_code == 404


def test_the_inspector_links_to_the_panel(chain: Chain) -> None:
    html = Client().get(f"/c/{chain.pk}/v/1/inspect/s1.p1").content.decode()
    assert f"/c/{chain.pk}/v/1/parse/s1.p1" in html
    assert f"/c/{chain.pk}/v/1/observations?from=s1.p1" in html


def paste(text: str, **fields: str) -> str:
    response = Client().post("/parse/", {"text": text, **fields})
    assert response.status_code == 200
    return response.content.decode()


def test_a_pasted_text_comes_back_with_its_sections() -> None:
    html = paste(REPLY)
    assert "I do both.\n\n&lt;thinking&gt;" in html
    assert "3 sections" in html
    assert Arrival.objects.count() == 0


@pytest.mark.parametrize("text", ["", " \n", "\0", "<" * 5_000, "<a>" * 2_000, "# a\n" * 2_000, '<action>["', "\u2028\r"])
def test_odd_texts_get_a_page(text: str) -> None:
    for format in ("", "xml", "markdown"):
        assert "<h1>Parse a reply</h1>" in paste(text, format=format, syntax="yaml")


def test_of_a_message_with_very_many_calls_only_its_text_is_read() -> None:
    calls = [(f"c{number}", "f", {}) for number in range(600)]
    reply = "<answer>" + "long " * 250_000 + "</answer>"
    chain = make_chain([human("Go"), ai("<answer>Yes</answer>", *calls), ai(reply, *calls)])
    assert lines(panel(chain)) == {1: "section-3 answer"}
    assert lines(panel(chain, "s1.p1.m0.c7")) == {1: "section-3 answer"}
    assert re.findall(r"faint number.>([^<]*)<", panel(chain, "s1.p2"))[:1] == ["1.25 MB · 1 line"]


def test_a_long_text_is_shown_in_windows() -> None:
    text = "<answer>\n" + "line\n" * 3_000 + "</answer>"
    html = paste(text)
    assert lines(html).keys() == set(range(1, 1_001))
    assert 'name="line" value="1000"' in html
    assert lines(paste(text, line="3000"))[3_002] == "section-3"


def test_a_react_log_shows_what_its_lines_become() -> None:
    html = paste(LOG)
    assert list(lines(html).values()) == [
        "ignored ignored", "section-3 human", "section-1 AI text", "section-2 tool call", "section-4 tool result",
        "section-1 AI text", "section-2 answer", "ok outcome", "",
        "section-3 human", "section-1 AI text", "problem not a call", "section-3 human", "section-1 AI text",
        "section-2 answer", "",
    ]  # fmt: skip
    assert "Import 2 chains" in html


def test_what_a_log_becomes_is_chosen_on_the_page_and_imported_so() -> None:
    log = f"{LOG}\nQuestion: And this?\nReflections:\n- Search by name.\nThought 1: Yes.\nAction 1: Finish[x]\n"
    assert list(lines(paste(log)).values())[-6:-2] == ["section-3 human", "section-5 system", "section-5", "section-1 AI text"]
    chosen = {"format": "react_log", "read-results": "text", "read-finish": "call", "read-reflections": "omit"}
    page = paste(log, **chosen)
    assert list(lines(page).values())[-6:-1] == [
        "section-3 human", "ignored ignored", "ignored", "section-1 AI text", "section-1 AI text",
    ]  # fmt: skip
    assert 'value="text" checked' in page
    Client().post("/upload/", {"text": log, **chosen})
    pick = f"/pick/{Arrival.objects.get().pk}/"
    assert 'value="omit" checked' in Client().get(pick).content.decode()
    Client().post(pick, {"format": "react_log", "read-results": "text", "pick": "/0"})
    assert Chain.objects.get().format == "react_log:text"
    assert "ReAct log" in Client().get("/").content.decode()


def test_a_react_log_is_imported_from_the_page() -> None:
    assert 'formaction="/upload/"' in paste(LOG)
    Client().post("/upload/", {"text": LOG})
    assert Arrival.objects.exists()


@given(st.text("<ab>/ \n", max_size=60))
def test_spans_cover_a_text_once(text: str) -> None:
    parsed = Xml().register("a").register("b").scan(text)
    found = list(spans(text, parsed.sections, parsed.ignored))
    assert "".join(text[span.start : span.end] for span in found) == text
    for span in found:
        if span.owner is None:
            assert not text[span.start : span.end].strip()
        elif span.owner != IGNORED:
            section = parsed.sections[span.owner]
            assert section.outer_start <= span.start <= span.end <= section.outer_end
