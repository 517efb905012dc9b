"""The third view of a comparison: the exported files line by line, in windows of any size of file (issue 12)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.diff import files
from chainviz.chains.models import Chain
from chainviz.jobs.models import Job
from chainviz.jobs.worker import run_waiting_jobs
from tests.chains.files import send

pytestmark = pytest.mark.django_db


def document(answers: list[str], **beside: Any) -> bytes:
    messages = [message for i, text in enumerate(answers) for message in (
        {"role": "user", "content": f"Question {i}"}, {"role": "assistant", "content": text})]  # fmt: skip
    return json.dumps({"model": "m", **beside, "messages": messages}).encode()


def compare(client: Client, one: bytes, other: bytes) -> str:
    send(client, ("one.json", one))
    send(client, ("other.json", other))
    a, b = Chain.objects.order_by("pk")
    return f"/compare/{a.pk}/{b.pk}/"


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return str(answer.content.decode())


def texts(found: str, change: str) -> list[str]:
    return [re.sub("<[^>]+>", "", each) for each in re.findall(rf'data-change="{change}">(.*?)</div>', found)]


def test_what_is_beside_the_messages_is_compared_too(client: Client) -> None:
    address = compare(client, document(["a", "b"], temperature=0.50), document(["a", "x"], temperature=1))
    found = page(client, f"{address}?view=file")
    assert texts(found, "removed") == ["  &quot;temperature&quot;: 0.5,", "      &quot;content&quot;: &quot;b&quot;"]
    assert texts(found, "added") == ["  &quot;temperature&quot;: 1,", "      &quot;content&quot;: &quot;x&quot;"]
    assert "unchanged line" in found and 'id="change-2"' in found
    assert f'href="{address}?view=file"' in page(client, address), "the view is offered beside the others"


def test_hostile_text_stays_text(client: Client) -> None:
    found = page(client, compare(client, document(["<script>alert(1)</script>"]), document(["\u202e"])) + "?view=file")
    assert "<script>alert" not in found and "&lt;script&gt;alert(1)&lt;/script&gt;" in re.sub("</?(ins|del)>", "", found)
    assert "\u202e" not in found


def test_every_line_is_on_exactly_one_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_ELEMENTS", 60)
    address = compare(client, document([str(i) for i in range(40)]), document([f"{i}!" for i in range(40)]))
    seen, href = [], f"{address}?view=file&line=0-0"
    while href:
        found = page(client, href)
        seen += re.findall(r'data-n="(\d+)"(?! data-twin)(?! data-change="removed")', found)
        following = re.search(r'rel="next" href="([^"]+)"', found)
        href = following[1].replace("&amp;", "&") if following else ""
    assert seen == [str(n) for n in range(1, len(seen) + 1)] and len(seen) > 300


def test_every_change_is_on_exactly_one_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_ELEMENTS", 60)
    address = compare(client, document([str(i) for i in range(40)]), document([f"{i}!" for i in range(40)]))
    seen, href = [], f"{address}?view=file"
    while href:
        found = page(client, href)
        seen += re.findall(r'id="change-(\d+)"', found)
        following = re.search(r'rel="next" href="([^"]+)"', found)
        href = following[1].replace("&amp;", "&") if following else ""
    assert seen == [str(n) for n in range(1, 41)]


def test_a_long_change_leads_to_its_rest(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "OF_A_CHANGE", 20)
    address = compare(client, document(["a"]), document(["a", *(str(i) for i in range(30))]))
    found = page(client, f"{address}?view=file")
    rest = re.search(r'href="([^"]+)">.{0,200}Show the rest of this change', found)
    assert rest is not None
    assert "&quot;29&quot;" in page(client, rest[1].replace("&amp;", "&"))


ODD = ["&line=9999-9999", "&line=3", "&line=x-y", "&line=-1-2", "&from=99", "&from=0", "&layout=z", "&line=2-0", "&line=٣-1"]


@pytest.mark.parametrize("query", ODD)
def test_odd_addresses_are_no_errors(client: Client, query: str) -> None:
    page(client, compare(client, document(["a"]), document(["b"])) + "?view=file" + query)


def test_equal_files(client: Client) -> None:
    address = compare(client, document(["a"]), document(["a"]).replace(b", ", b",\n  "))
    assert "No difference" in page(client, f"{address}?view=file")


def test_long_files_are_compared_by_a_job(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_COMPARED", 2)
    files._cached_diff.cache_clear()
    address = compare(client, document(["a", "secret"]), document(["b", "secret"])) + "?view=file"
    assert client.get(address).status_code == 202
    run_waiting_jobs()
    assert "1 change" in page(client, address)
    assert "secret" not in json.dumps([job.result for job in Job.objects.all()]), "a job keeps places only"


def test_a_fold_unfolds_in_its_place(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LINES_UNFOLDED", 20)
    answers = [str(i) for i in range(40)]
    address = compare(client, document(answers), document([*answers[:-1], "x"]))
    seen, href = [], f"{address}?view=file"
    found = page(client, href)
    while unfold := re.search(r'hx-get="([^"]+)"', found[found.index("diff-fold") :] if "diff-fold" in found else ""):
        href = unfold[1].replace("&amp;", "&")
        found = client.get(href, headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in found
        seen += re.findall(r'data-n="(\d+)" data-twin', found)
    assert seen == [str(n) for n in range(1, len(seen) + 1)] and len(seen) > 150
    assert client.get(href).content.decode().count("<html") == 1, "without scripts it is a page"
