"""Recorded tokens in the library, the explorer's head and the inspector; an estimate where none are recorded."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.store.outline.build import rebuild_all
from tests.chains.files import page_text
from tests.chains.making import STORY, make_chain, make_chain_of
from tests.drafts.pages import fields_of, send_form

pytestmark = pytest.mark.django_db


def call(tokens: int, **members: Any) -> dict[str, Any]:
    usage = {"input_tokens": tokens, "cache_read_input_tokens": 9 * tokens, "output_tokens": 50}
    return {"role": "assistant", "content": "ok", "model": "claude-sonnet-4-5", "usage": usage, **members}


RECORDED = [{"role": "user", "content": "hi"}, call(1_000), {"role": "user", "content": "on"}, call(3_000)]


@pytest.fixture
def recorded() -> Chain:
    return make_chain(RECORDED)


def test_recorded_tokens_are_summed_and_priced(recorded: Chain) -> None:
    html = page_text(f"/c/{recorded.pk}/")
    assert "40.0k tokens in, 100 out · $0.02" in html
    assert "36.0k · 90%" in html and "not recorded" in html and "claude-sonnet-4-5" in html
    assert re.search(r"\d+% of 200k recorded", html), "of the last prompt"
    node = page_text(f"/c/{recorded.pk}/v/1/inspect/s1.p1")
    assert "Recorded usage" in node and "10.0k" in node and "(estimate)" not in node
    assert "30.0k" in page_text(f"/c/{recorded.pk}/v/1/inspect/s2")
    assert "Recorded usage" not in page_text(f"/c/{recorded.pk}/v/1/inspect/s1.h.m0")


def test_the_library_shows_and_sorts_by_recorded_tokens(recorded: Chain) -> None:
    estimated = make_chain(STORY)
    html = Client().get("/?order=-tokens").content.decode()
    assert 'title="40.0k in, 100 out · 90% cached"' in html and "$0.02" in html and 'title="estimate"' in html
    assert html.index("40.0k in") < html.index('title="estimate"')
    assert (Chain.objects.get(pk=recorded.pk).tokens, Chain.objects.get(pk=estimated.pk).tokens) == (40_100, None)


def test_an_estimate_says_that_it_is_one() -> None:
    chain = make_chain(STORY)
    html = page_text(f"/c/{chain.pk}/")
    assert "tokens (estimate)" in html and "This transcript records no tokens." in html and "$" not in html


def test_tokens_beside_the_messages_are_shown_and_survive_a_rebuild() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    answer = {"index": 0, "message": {"role": "assistant", "content": "ok"}}
    chain = make_chain_of(json.dumps({"model": "gpt-4o", "choices": [answer], "usage": usage}).encode())
    assert "10 tokens in, 2 out · <$0.01" in page_text(f"/c/{chain.pk}/")
    rebuild_all()
    assert "10 tokens in, 2 out" in page_text(f"/c/{chain.pk}/")


def test_the_recorded_cost_of_a_run_outlives_its_messages(recorded: Chain) -> None:
    client = Client()
    assert send_form(client, f"/c/{recorded.pk}/edit/s2.p1?v=1", act="delete:s2.p1").status_code == 303
    draft = f"/c/{recorded.pk}/d/{Draft.objects.get().pk}/"
    assert "40.0k tokens in, 100 out · $0.02" in page_text(f"{draft}explore/")
    before = Chain.objects.get(pk=recorded.pk)
    assert client.post(f"{draft}save", fields_of(client.get(draft).content.decode())).status_code == 303
    after = Chain.objects.get(pk=recorded.pk)
    assert after.version == 2
    assert (after.tokens, after.model, after.cost) == (before.tokens, before.model, before.cost)
    assert "40.0k tokens in, 100 out · $0.02" in page_text(f"/c/{recorded.pk}/")


@pytest.mark.parametrize("address", ["state/?v=1", "do/compact/simulate/?v=1"])
def test_forms_begin_with_the_context_window_of_the_recorded_model(recorded: Chain, address: str) -> None:
    assert selected_window(f"/c/{recorded.pk}/{address}") == "200,000 tokens, the window of claude-sonnet-4-5"
    unknown = make_chain(STORY)
    assert selected_window(f"/c/{unknown.pk}/{address}") == "128,000 tokens, assumed: that of the model is not known"


def rollout(tokens: int) -> Chain:
    usage = {"input_tokens": tokens, "output_tokens": 10, "total_tokens": tokens + 10}
    info = {"total_token_usage": usage, "last_token_usage": usage, "model_context_window": 258_400}
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Count."}]}
    meta = {"id": "1", "cwd": "/", "cli_version": "0.146.0"}
    lines = (("session_meta", meta), ("response_item", message), ("event_msg", {"type": "token_count", "info": info}))
    document = [json.dumps({"timestamp": "2026-08-10T10:00:00Z", "type": kind, "payload": body}) for kind, body in lines]
    return make_chain_of("\n".join(document).encode(), "rollout.jsonl")


@pytest.mark.parametrize("address", ["state/?v=1", "do/compact/simulate/?v=1"])
def test_the_window_that_a_session_records_is_preset(address: str) -> None:
    assert selected_window(f"/c/{rollout(1_000).pk}/{address}") == "258,400 tokens, the window of the recorded model"


def test_a_count_that_no_model_takes_is_a_warning() -> None:
    html = page_text(f"/c/{rollout(4_280_000).pk}/")
    assert "The last call records 4,280,010 tokens, more than the context window of 258,400" in html
    assert "The last call records" not in page_text(f"/c/{rollout(1_000).pk}/")
    rebuild_all()
    assert "The last call records 4,280,010 tokens" in page_text(f"/c/{Chain.objects.order_by('pk')[0].pk}/")


def test_an_answer_that_records_more_than_its_model_takes_is_a_warning() -> None:
    chain = make_chain([*RECORDED, {"role": "user", "content": "on"}, call(90_000)])
    assert "The last call records 900,050 tokens, more than the context window of 200,000" in page_text(f"/c/{chain.pk}/")


def selected_window(address: str) -> str:
    choices = re.search(r'<select[^>]* name="window">(.*?)</select>', Client().get(address).content.decode())
    assert choices is not None
    selected = re.search(r" selected>(.*?)</option>", choices[1])
    return selected[1] if selected else ""


def test_own_figures_of_a_model_count(recorded: Chain, settings: Any, tmp_path: Any) -> None:
    path = tmp_path / "models.json"
    path.write_text('{"claude-sonnet-4-5": {"context": 50, "input": 1000, "output": 1000}}')
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"models": str(path)})
    html = page_text(f"/c/{recorded.pk}/")
    assert "$40.10" in html and "% of 50" in html
