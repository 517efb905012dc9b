"""The explorer's pages and fragments, as they come from the server."""

from __future__ import annotations

import gzip
import json
import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.store.content.message_reader import BodyReader
from chainviz.store.content.spans import stored_bytes
from chainviz.web.formatting import byte_text
from tests.chains.making import STORY, ai, human, long_story, make_chain, make_chain_of, result
from tests.drafts.pages import send_form

pytestmark = pytest.mark.django_db
FRAGMENT = {"HX-Request": "true"}


def get(path: str, **headers: str) -> str:
    response = Client().get(path, headers=headers)
    assert response.status_code == 200, path
    return response.content.decode()


def fragment(path: str) -> str:
    return get(path, **FRAGMENT)


def paths(html: str) -> list[str]:
    """Paths of the rows, those shown as context left out."""
    return re.findall(r'<(?:article|section) [^>]*data-path="([^"]+)" data-at="\d+" ', html) and [
        path
        for path, context in re.findall(r'<(?:article|section) [^>]*data-path="([^"]+)" data-at="\d+"( data-context)?', html)
        if not context
    ]


@pytest.fixture
def story() -> Chain:
    return make_chain(STORY)


def test_a_chain_opens_with_all_its_rows_and_numbers(story: Chain) -> None:
    html = get(f"/c/{story.pk}/")
    assert paths(html) == ["s1", "s1.h.m0", "s1.h.m1", "s1.p1", "s1.p2", "s2", "s2.h.m0", "s2.p1", "s3", "s3.h.m0", "s3.p1"]
    assert "Which drill fits" in html
    assert "find_tool, price" in html
    assert "brick · I look it up." in html
    assert "call without a result" in html
    assert "1 problem" in html


def test_a_section_is_named_by_its_human_message(story: Chain) -> None:
    html = fragment(f"/c/{story.pk}/v/1/rows?from=s1")
    assert re.search(r'id="s1".*?<b>Which drill fits', html)
    folded = fragment(f"/c/{story.pk}/v/1/rows?from=s1&closed=s1")
    assert re.search(r'id="s1".*?<b>Which drill fits', folded)


def test_every_row_says_its_size_and_share(story: Chain) -> None:
    html = fragment(f"/c/{story.pk}/v/1/rows?from=s1")
    rows = html.split("data-path=")[1:]
    assert all(re.search(r'data-bar="\d+"><span>[\d.,]+ (?:B|KB) <i>≈ \d+</i> · (?:<1|\d+)%', row.replace("&lt;", "<")) for row in rows)


def test_a_closed_row_has_few_elements() -> None:
    chain = make_chain(long_story(9, 2))
    html = fragment(f"/c/{chain.pk}/v/1/rows?from=s1")
    rows = re.findall(r"<(article|section) .*?</\1>", html)
    texts = [match.group(0) for match in re.finditer(r"<(article|section) .*?</\1>", html)]
    assert len(rows) > 20
    assert max(len(re.findall(r"<[a-z]", text)) for text in texts) <= 12


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("from=s2&n=3", ["s2", "s2.h.m0", "s2.p1"]),
        ("from=s1.p2&dir=after&n=2", ["s2", "s2.h.m0"]),
        ("from=s2&dir=before&n=2", ["s1.p1", "s1.p2"]),
        ("from=s1&closed=s1,s2&n=3", ["s1", "s2", "s3"]),
        ("from=s1&sections=closed&opened=s2", ["s1", "s2", "s2.h.m0", "s2.p1", "s3"]),
        ("near=6&n=1", ["s2"]),
        ("near=999999999&n=1", ["s3.p1"]),
        ("from=s1&n=1&opened=nonsense,s1.p1", ["s1"]),
    ],
)
def test_a_window_is_asked_for_by_path_and_folds(story: Chain, query: str, expected: list[str]) -> None:
    assert paths(fragment(f"/c/{story.pk}/v/1/rows?{query}")) == expected


def test_windows_joined_are_the_whole_chain() -> None:
    chain = make_chain(long_story(5, 7))
    base = f"/c/{chain.pk}/v/1/rows"
    seen = paths(fragment(f"{base}?runs=s3.p2&n=7"))
    while following := paths(fragment(f"{base}?runs=s3.p2&from={seen[-1]}&dir=after&n=7")):
        seen += following
    assert len(seen) == 5 * 4 + 5  # the run of the third section is open
    back = paths(fragment(f"{base}?runs=s3.p2&from={seen[-1]}&n=1"))
    while earlier := paths(fragment(f"{base}?runs=s3.p2&from={back[0]}&dir=before&n=9")):
        back = earlier + back
    assert back == seen


def test_what_lies_around_a_window_is_counted() -> None:
    chain = make_chain(long_story(5, 7))
    html = fragment(f"/c/{chain.pk}/v/1/rows?from=s3.p2&n=4&runs=s3.p2")
    assert 'data-before="11" data-after="10"' in html
    html = fragment(f"/c/{chain.pk}/v/1/rows?from=s3.p2&n=4&runs=s3.p2&closed=s1")
    assert 'data-before="8" data-after="10"' in html


def test_near_the_end_rows_above_fill_the_window() -> None:
    """Rows that came later would move those in sight (issue 12)."""
    chain = make_chain(long_story(8, 7))
    shown = paths(get(f"/c/{chain.pk}/v/1/at/s8.p7"))
    assert shown[-1] == "s8.p7" and len(shown) > 18
    large = make_chain([human("- item\n" * 40), ai("- item\n" * 40)] * 15, "large.json")
    html = get(f"/c/{large.pk}/v/1/at/s15.p1")
    shown = paths(html)
    assert shown[-1] == "s15.p1" and 7 < len(shown) < 45
    assert f'data-before="{45 - len(shown)}" data-after="0"' in html


def test_an_opened_pair_has_each_result_beside_its_call(story: Chain) -> None:
    html = fragment(f"/c/{story.pk}/v/1/node/s1.p1")
    calls = html.split('<div class="tool-call"')[1:]
    assert len(calls) == 2
    assert "find_tool" in calls[0]
    assert "hammer drill" in calls[0]
    assert "price" in calls[1]
    assert "12.50" in calls[1]
    assert "I look it up." in html.split('<div class="tool-call"')[0]


def test_a_missing_result_says_so(story: Chain) -> None:
    assert "This call has no result" in fragment(f"/c/{story.pk}/v/1/node/s2.p1")


def test_a_result_without_call_says_so() -> None:
    chain = make_chain([human("a"), ai("b", ("c1", "f", {})), result("c1", "right"), result("zz", "stray")])
    html = fragment(f"/c/{chain.pk}/v/1/node/s1.p1")
    assert "This pair has no call for this result" in html
    assert "stray" in html
    assert html.count("right") == 1


def test_a_part_of_any_length_is_reached_in_steps() -> None:
    text = "".join(f"line {i}\n" for i in range(20_000))
    chain = make_chain([human("a"), ai(None, ("c1", "f", {})), result("c1", text)])
    html = fragment(f"/c/{chain.pk}/v/1/node/s1.p1")
    assert "19,600 lines left" in html
    seen = re.findall(r"line (\d+)\n", html)
    for _ in range(20):
        link = re.search(r'data-more href="([^"]+)"', html)
        if not link:
            break
        html = fragment(link[1].replace("&amp;", "&"))
        seen += re.findall(r"line (\d+)\n", html)
    assert seen == [str(i) for i in range(20_000)]


def test_of_a_very_long_part_only_what_is_shown_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[int] = []
    sources = BodyReader.sources

    def spied(reader: BodyReader, rows: Any) -> Any:
        decoded.extend(stored_bytes(row.source) for row in rows)
        return sources(reader, rows)

    monkeypatch.setattr(BodyReader, "sources", spied)
    text = "".join(f"line {i} é 😀 \\ <b>\n" for i in range(150_000))
    chain = make_chain([human("a"), ai(None, ("c1", "f", {})), result("c1", text), ai("b")])
    decoded.clear()
    base = f"/c/{chain.pk}/v/1/"
    whole = f"{len(text) - text.index('line 400 '):,} characters · 149,600 lines left"
    for page in (get(f"{base}at/s1.p1"), fragment(f"{base}node/s1.p1"), fragment(f"{base}part/s1.p1.m1.c0")):
        assert whole in page
        assert "line 399 é 😀 \\ &lt;b&gt;\n" in page
        assert "line 400 " not in page
    assert byte_text(len(text.encode()) + 2) in fragment(f"{base}node/s1.p1")
    found = fragment(f"{base}part/s1.p1.m1.c0?find=LINE%20140000")
    assert "line 139998 é" in found
    assert "between" in found
    start = text.index("line 149990 ")
    seen = re.findall(r"line (\d+) é 😀 ", fragment(f"{base}part/s1.p1.m1.c0?from={start}"))
    assert seen == [str(i) for i in range(149_990, 150_000)]
    assert "line 140001 é" in fragment(f"{base}find?q=line%20140000")
    assert max(decoded) < 100_000


def test_a_very_long_part_of_blanks_says_that_there_is_more() -> None:
    chain = make_chain([human(" \n" * 900_000), ai("b")])
    assert "lines left" in fragment(f"/c/{chain.pk}/v/1/node/s1.h.m0")


def test_a_pair_with_thousands_of_calls_is_opened_in_steps() -> None:
    calls = [(f"c{i}", "t", {"i": i}) for i in range(3_000)]
    chain = make_chain([human("a"), ai(None, *calls), *[result(f"c{i}", f"r{i}") for i in range(3_000)]])
    html = fragment(f"/c/{chain.pk}/v/1/node/s1.p1")
    assert html.count("<") < 800
    assert "left</a>" in html


def test_the_deep_link_opens_its_node(story: Chain) -> None:
    html = get(f"/c/{story.pk}/v/1/at/s1.p1.m0.c1")
    assert 'data-current="s1.p1"' in html
    assert "hammer drill" in html
    assert 'id="s1-p1-m0-c1"' in html


@pytest.mark.parametrize("where", ["s99", "s1.p9", "s1.h.m7", "nonsense", "s1.p1.m0.c99", "s0"])
@pytest.mark.parametrize("view", ["at", "node", "part", "inspect", "raw"])
def test_a_path_that_is_not_there_is_404(story: Chain, view: str, where: str) -> None:
    if where == "s1.p1.m0.c99" and view != "part":
        pytest.skip("shows the node of the part")
    for headers in ({}, FRAGMENT):
        assert Client().get(f"/c/{story.pk}/v/1/{view}/{where}", headers=headers).status_code == 404


def test_the_inspector_estimates_tokens_as_the_row_does_or_names_the_tokenizer(story: Chain, monkeypatch: Any) -> None:
    counted = fragment(f"/c/{story.pk}/v/1/inspect/s1.p1")
    assert "Tokens (o200k)" in counted and "≈" not in counted
    monkeypatch.setattr("chainviz.chains.explorer.inspector.tokenizer", lambda: None)
    estimated = fragment(f"/c/{story.pk}/v/1/inspect/s1.p1")
    tokens = re.search(r"≈ [\d.]+k?", estimated)
    assert tokens and "(estimate)" in estimated and "o200k" not in estimated
    assert tokens.group() in get(f"/c/{story.pk}/v/1/at/s1.p1")


def test_versions_that_are_not_there_are_404(story: Chain) -> None:
    assert Client().get(f"/c/{story.pk}/v/2/").status_code == 404
    assert Client().get("/c/999/").status_code == 404


def test_the_inspector_tells_numbers_calls_and_problems(story: Chain) -> None:
    html = fragment(f"/c/{story.pk}/v/1/inspect/s1.p1")
    for words in ("Pair 1.1", "request-response", "2 completed", "Call: find_tool", "Share of the chain"):
        assert words in html
    html = fragment(f"/c/{story.pk}/v/1/inspect/s2.p1")
    assert "1 pending" in html
    assert "no result follows" in html
    assert "Section 2" in fragment(f"/c/{story.pk}/v/1/inspect/s2")


def test_problems_are_walked_in_both_directions(story: Chain) -> None:
    base = f"/c/{story.pk}/v/1/problems/step"
    assert 'data-path="s2.p1.m0.c0"' in fragment(f"{base}?from=s1&dir=next")
    assert 'data-path="s2.p1.m0.c0"' in fragment(f"{base}?from=s3&dir=previous")
    assert 'data-path="s2.p1.m0.c0"' in fragment(f"{base}?from=s3&dir=next"), "from the end to the first"
    response = Client().get(f"{base}?from=s1&dir=next")
    assert (response.status_code, response["Location"]) == (302, f"/c/{story.pk}/v/1/at/s2.p1.m0.c0#s2-p1-m0-c0")
    assert "no result follows" in get(f"/c/{story.pk}/v/1/problems")


def test_find_answers_with_places(story: Chain) -> None:
    html = fragment(f"/c/{story.pk}/v/1/find?q=HAMMER")
    assert re.findall(r'data-hit data-path="([^"]+)"', html) == ["s1.p1.m1.c0", "s1.p2.m0.c0"]
    assert "No matches for" in fragment(f"/c/{story.pk}/v/1/find?q=HAMMER&case=1")
    assert "<h1" in get(f"/c/{story.pk}/v/1/find?q=hammer")


def test_an_untouched_chain_is_exported_byte_for_byte() -> None:
    content = json.dumps({"b": 1.0, "messages": STORY, "a": "é"}, indent=3, ensure_ascii=False).encode()
    chain = make_chain_of(content, "näme.json")
    for scope in ("chain", "original", "file"):
        response = Client().get(f"/c/{chain.pk}/v/1/export?scope={scope}")
        assert b"".join(response.streaming_content) == content
        assert "attachment" in response["Content-Disposition"]
    assert Client().get(f"/c/{chain.pk}/v/1/export?scope=nonsense").status_code == 404
    assert "scope=chain" in get(f"/c/{chain.pk}/v/1/export")


def test_the_source_of_a_node_is_its_own_spelling() -> None:
    chain = make_chain_of(b'[{"role":"user",   "content":"a","x":1.50}, {"role":"assistant","content":"b"}]')
    response = Client().get(f"/c/{chain.pk}/v/1/raw/s1.h.m0?as=file")
    assert response.content == b'{"role":"user",   "content":"a","x":1.50}'
    response = Client().get(f"/c/{chain.pk}/v/1/raw/s1?as=file")
    assert len(json.loads(response.content)) == 2
    assert "1.50" in fragment(f"/c/{chain.pk}/v/1/raw/s1.h.m0")


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC"


def test_pictures_are_served_by_us_and_remote_ones_only_named() -> None:
    def image(url: str) -> dict[str, Any]:
        return {"type": "image_url", "image_url": {"url": url}}

    svg = "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+"
    chain = make_chain([human([image(f"data:image/png;base64,{PIXEL}"), image("https://example.com/a.png"), image(svg)]), ai("b")])
    html = fragment(f"/c/{chain.pk}/v/1/node/s1.h.m0")
    assert html.count("<img") == 1
    assert 'width="10" height="10"' in html
    assert "Image at example.com" in html
    response = Client().get(f"/c/{chain.pk}/v/1/image/s1.h.m0.c0")
    assert (response.status_code, response["Content-Type"]) == (200, "image/png")
    for part in (1, 2, 9):
        assert Client().get(f"/c/{chain.pk}/v/1/image/s1.h.m0.c{part}").status_code == 404


def test_long_and_short_chains_cost_the_same(django_assert_max_num_queries: Any) -> None:
    for messages in (long_story(2, 5), long_story(60, 60)):
        chain = make_chain(messages, f"story-{len(messages)}.json")
        Client().get(f"/c/{chain.pk}/")
        with django_assert_max_num_queries(9):
            html = get(f"/c/{chain.pk}/")
        assert len(gzip.compress(html.encode())) < 60_000
        in_page = re.sub("(?s)<template>.*?</template>", "", html)
        assert len(re.findall(r"<[a-z]", in_page)) < 1_100


@pytest.mark.parametrize(("page", "most"), [("", 8), ("v/1/at/s2", 9), ("v/1/at/s2.p50", 10), ("v/1/node/s2.p50", 9)])
def test_a_page_asks_for_nothing_twice(page: str, most: int, django_assert_max_num_queries: Any) -> None:
    chain = make_chain(long_story(3, 60), "story.json")
    get(f"/c/{chain.pk}/")  # stores what is worked out once
    with django_assert_max_num_queries(most):
        get(f"/c/{chain.pk}/{page}")


def test_an_answered_call_is_shown_once_and_counted_once() -> None:
    calls = [(f"c{i}", "look", {"n": i}) for i in range(100)]
    chain = make_chain([human("Go"), ai(None, *calls), *(result(f"c{i}", f"seen {i}") for i in range(100))])
    assert "89 parts left" in fragment(f"/c/{chain.pk}/v/1/node/s1.p1"), "a head, the calls, and nothing for the results"


def test_parts_that_people_know_are_named() -> None:
    audio = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    file = {"type": "file", "file": {"filename": "plan <b>.pdf", "file_id": "file-1"}}
    chain = make_chain([human([audio, file, {"type": "riddle", "value": 1}]), ai("")])
    shown = fragment(f"/c/{chain.pk}/v/1/node/s1.h.m0")
    assert "Audio wav" in shown and "File plan &lt;b&gt;.pdf" in shown
    assert shown.count("a part chainviz does not know") == 1
    assert "This message has no content" in fragment(f"/c/{chain.pk}/v/1/node/s1.p1")


def more_links(html: str) -> list[str]:
    return [unescape(link) for link in re.findall(r'data-more href="([^"]*)"', html)]


def test_a_part_far_down_in_a_long_node_is_shown_and_what_lies_between_is_a_link() -> None:
    calls = [(f"c{i}", "look", {"n": i}) for i in range(100)]
    chain = make_chain([human("Go"), ai(None, *calls), *(result(f"c{i}", f"seen {i}.") for i in range(100))])
    for where in ("s1.p1.m0.c70", "s1.p1.m71.c0"):
        page = get(f"/c/{chain.pk}/v/1/at/{where}")
        assert "seen 10." in page and "seen 40." not in page and "seen 70." in page
    between, rest = more_links(page)
    assert "Show the 59 parts between" in page
    seen, link = "", between
    while link:
        step = fragment(link)
        seen += step
        link = next(iter(more_links(step)), "")
    assert re.findall(r"seen (\d+)\.", seen) == [str(i) for i in range(11, 70)]
    assert "seen 82." in fragment(rest)


def test_a_text_far_down_in_a_long_part_is_shown_and_what_lies_between_is_a_link() -> None:
    text = "".join(f"line {i}\n" for i in range(3_000))
    chain = make_chain([human("a"), ai(None, ("c1", "f", {})), result("c1", text)])
    [more] = more_links(fragment(f"/c/{chain.pk}/v/1/node/s1.p1"))
    page = fragment(f"{more}&find=LINE 2500")
    assert "line 2500\n" in page and "line 2497\n" in page and "line 2490\n" not in page
    between = more_links(page)[0]
    step = fragment(between)
    assert "line 400\n" in step and "line 2496\n" in step and "line 2497\n" not in step and not more_links(step)
    assert fragment(f"{more}&find=LINE 2500&case=1") == fragment(f"{more}&find=nowhere") == fragment(more)


def test_problems_are_walked_one_by_one_within_a_node_too() -> None:
    calls = [(f"c{i}", "look", {}) for i in range(3)]
    chain = make_chain([human("Go"), ai(None, *calls), human("On"), ai(None, ("d", "look", {})), human("Well?")])
    where = f"/c/{chain.pk}/v/1/problems/step"

    def step(query: str) -> tuple[str, str]:
        [found] = re.findall(r'data-path="([^"]*)" data-nth="([^"]*)"', fragment(f"{where}?{query}"))
        return found

    assert step("from=s1&dir=next") == ("s1.p1.m0.c0", "0")
    assert step("from=s1.p1&dir=next&nth=0") == ("s1.p1.m0.c1", "1")
    assert step("from=s1.p1&dir=next&nth=2") == ("s2.p1.m0.c0", "0")
    assert step("from=s2.p1&dir=previous&nth=0") == ("s1.p1.m0.c2", "2")
    assert step("from=s1.p1&dir=previous&nth=2") == ("s1.p1.m0.c1", "1")
    assert step("from=s1.p1&dir=next") == ("s2.p1.m0.c0", "0"), "who walked there by other keys goes on"


@pytest.mark.parametrize("address", ["v/1/at/s2.p9", "edit/s2.p9"])
def test_an_unknown_node_of_a_known_chain_offers_the_chain(story: Chain, address: str) -> None:
    page = Client().get(f"/c/{story.pk}/{address}").content.decode()
    assert "section 2 has 1 pair" in page
    assert f'href="/c/{story.pk}/v/1/at/s2#s2"' in page and f'href="/c/{story.pk}/v/1/"' in page


def test_a_path_that_is_none_offers_the_chain(story: Chain) -> None:
    page = Client().get(f"/c/{story.pk}/v/1/at/nonsense").content.decode()
    assert "is not a path" in page and f'href="/c/{story.pk}/v/1/"' in page


def test_a_call_with_which_a_run_ends_is_no_fault() -> None:
    chain = make_chain([human("Go"), ai(None, ("c", "submit", {})), {"role": "exit", "content": "done"}])
    shown = fragment(f"/c/{chain.pk}/v/1/node/s1.p1")
    assert "The run ended with this call" in shown and "This call has no result" not in shown


def opened(html: str) -> list[str]:
    return re.findall(r'data-path="([^"]+)"[^>]*><a class="node-line" [^>]*aria-expanded="true"', html)


def test_requests_and_final_answers_are_open_on_arrival() -> None:
    turn = [ai("On it.", ("c1", "look", {})), result("c1", "seen"), ai("Not yet.")]
    chain = make_chain([{"role": "system", "content": "Help."}, human("First?"), *turn, ai("Done."), human("Second?"), *turn[:2]])
    base = f"/c/{chain.pk}/v/1/rows?from=s1"
    nodes = [path for path in opened(get(f"/c/{chain.pk}/")) if "." in path]
    assert nodes == ["s1.h.m1", "s1.p3", "s2.h.m0"]
    assert [path for path in opened(fragment(base)) if "." in path] == nodes
    assert not [path for path in opened(fragment(f"{base}&all=")) if "." in path]
    assert [path for path in opened(fragment(f"{base}&all=ai&closed=s1.p2")) if "." in path] == ["s1.p3"]


def test_open_nodes_of_a_draft_are_read_together() -> None:
    chain = make_chain(long_story(12, 1))
    client = Client()
    begun, counts = "v=1", []
    for number in range(1, 6):
        field = f"s{number}__h__m0__c0__text"
        send_form(client, f"/c/{chain.pk}/edit/s{number}.h.m0?{begun}", **{field: f"Other task {number}"})
        begun = f"v=1&draft={Draft.objects.get().pk}"
        client.get(f"/c/{chain.pk}/d/{Draft.objects.get().pk}/explore/")
        with CaptureQueriesContext(connection) as queries:
            html = client.get(f"/c/{chain.pk}/d/{Draft.objects.get().pk}/explore/").content.decode()
        counts.append(len(queries))
        assert f"Other task {number}" in html
    assert counts[1] == counts[-1]


def run_rows(html: str) -> list[tuple[str, str]]:
    return re.findall(r'<article [^>]*data-path="([^"]+)"[^>]* data-run><a [^>]*>.*?<b>(.*?)</b>', html)


def test_closed_pairs_between_request_and_answer_are_one_row() -> None:
    calls = [*long_story(1, 299)[1:], {"role": "tool", "tool_call_id": "nowhere", "content": "lost"}, ai("All is read.")]
    chain = make_chain([human("Read it all"), *calls, *long_story(1, 2)])
    html = get(f"/c/{chain.pk}/")
    assert paths(html)[:6] == ["s1", "s1.h.m0", "s1.p1", "s1.p300", "s2", "s2.h.m0"]
    assert run_rows(html) == [("s1.p1", "299 pairs")]
    assert "1.1–299" in html and "599 messages" in html and "All is read." in html
    line = html.split(" data-run>")[1].split("</article>")[0]
    assert "1 problem" in line
    assert outline_paths(html) == ["s1", "s1.h.m0", "s1.p1", "s1.p300", "s2"]
    address = unescape(re.findall(r' data-run><a class="node-line" href="([^"]+)"', html)[0])
    opened = get(address)
    assert paths(opened)[:3] == ["s1.p1", "s1.p2", "s1.p3"] and not run_rows(opened)
    assert "s1.p2" in outline_paths(opened)


def outline_paths(html: str) -> list[str]:
    return re.findall(r'<a class="outline-[^>]* data-path="([^"]+)"', html)


@pytest.mark.parametrize("shape", [(18, 215), (40, 3), (3, 9)])
def test_the_outline_shows_every_section_and_lists_one(shape: tuple[int, int]) -> None:
    sections, pairs = shape
    chain = make_chain(long_story(sections, pairs))
    for section in (1, sections // 2, sections):
        listed = outline_paths(get(f"/c/{chain.pk}/v/1/at/s{section}"))
        heads = [path for path in listed if "." not in path]
        assert len(heads) == min(sections, len(heads)) and f"s{section}" in heads and (sections > 20 or len(heads) == sections)
        assert {path.split(".")[0] for path in listed if "." in path} == {f"s{section}"}
        assert (f"s{section}.p2" in listed) == (pairs < 15)


def test_the_outline_of_a_chain_with_one_section_lists_its_pairs() -> None:
    html = get(f"/c/{make_chain(long_story(1, 40)).pk}/")
    assert outline_paths(html)[:4] == ["s1", "s1.h.m0", "s1.p1", "s1.p2"]


@pytest.mark.parametrize(("where", "is_folded"), [("at/s1.p150", False), ("at/s1.p1", False), ("at/s1.p300", True), ("at/s1.h.m0", True)])
def test_a_link_into_a_run_opens_it(where: str, is_folded: bool) -> None:
    chain = make_chain(long_story(1, 300))
    html = get(f"/c/{chain.pk}/v/1/{where}")
    assert bool(run_rows(html)) == is_folded
    assert where.removeprefix("at/") in paths(html)


def test_rows_around_a_folded_run_are_counted() -> None:
    chain = make_chain(long_story(3, 300))
    base = f"/c/{chain.pk}/v/1/rows"

    def around(query: str) -> tuple[int, int, int]:
        html = fragment(f"{base}?{query}")
        found = re.search(r'data-before="(\d+)" data-after="(\d+)"', html)
        assert found is not None
        return int(found[1]), len(paths(html)), int(found[2])

    assert sum(around("")) == 3 * 4
    assert around("from=s2.p300") == (7, 5, 0)
    assert around("from=s3.p1") == (10, 2, 0)
    assert sum(around("runs=s2.p7")) == 3 * 4 + 298
    assert sum(around("all=tool")) == 3 * 302
    assert sum(around("sections=closed&opened=s3")) == 3 + 3
    assert paths(fragment(f"{base}?near=900")) == paths(fragment(f"{base}?from=s2.p1"))


def claude_turns(count: int, wrong: int) -> list[dict[str, Any]]:
    """Turns of a Messages API request. The call id of turn `wrong` is one that this API refuses; the structure is valid."""
    messages: list[dict[str, Any]] = [human("Read it all")]
    for turn in range(1, count + 1):
        id = "bad id" if turn == wrong else f"c{turn}"
        messages.append({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "read", "input": {}}]})
        messages.append(human([{"type": "tool_result", "tool_use_id": id, "content": "text"}]))
    return [*messages, {"role": "assistant", "content": "All is read."}]


def test_errors_of_the_chains_own_provider_are_marked_at_their_rows() -> None:
    request = {"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": [*claude_turns(5, 3), *claude_turns(2, 0)]}
    chain = make_chain_of(json.dumps(request).encode(), "request.json")
    html = get(f"/c/{chain.pk}/v/1/at/s1.p1")
    assert "Anthropic: 1 error" in html
    marked = re.findall(r'<article [^>]*data-path="([^"]+)"[^>]* data-flagged', html)
    assert marked == ["s1.p3"]
    assert 'data-state="problem">call id pattern<' in html
    assert re.findall(r'<a class="outline-\w+"[^>]*data-path="([^"]+)"[^>]* data-flag="problem" title="([^"]+)"', html) == [
        ("s1", "1 problem"), ("s1.p3", "call id pattern"),
    ]  # fmt: skip
    folded = get(f"/c/{chain.pk}/")
    assert "1 problem" in folded.split(" data-run>")[1].split("</article>")[0]


def test_errors_of_other_providers_are_not_marked() -> None:
    chain = make_chain([human("Read it"), ai(None, ("bad id", "read", {})), result("bad id", "text"), ai("Done.")])
    html = get(f"/c/{chain.pk}/")
    assert "OpenAI: accepted" in html and "data-flagged" not in html


def test_local_mode_offers_no_review() -> None:
    html = get(f"/c/{make_chain(STORY).pk}/")
    links = re.findall(r'href="(/c/\d+/(?:review|threads|labels)/)"', html)
    assert links and all(Client().get(link).status_code == 200 for link in links)
