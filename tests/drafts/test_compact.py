"""The compaction page: a strategy built with plain forms, its trace, the chain before and after, and the step it becomes."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from hypothesis import given

from chainviz.accounts.models import User
from chainviz.chains.models import Chain
from chainviz.core.operations.compact import COMPACTORS, as_value, parse_strategy, print_strategy
from chainviz.core.operations.compact.contract import Compactor
from chainviz.drafts.models import Draft, Preset
from chainviz.drafts.operations.compact import run, tree
from chainviz.drafts.operations.compact.run import Ran
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_next_job
from chainviz.store.content.chain import StoredChain
from tests.chains.making import ai, human, long_story, make_chain, make_chain_of, result
from tests.core.operations.compact.made import STRATEGIES
from tests.drafts.pages import fields_of, snapshot_of, steps_of
from tests.drafts.summary_story import work
from tests.examples import examples
from tests.llm.fake_server import says, serving

pytestmark = pytest.mark.django_db
LIMIT = {"type": "message_limit", "max_messages": 3}


def talk(turns: int) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": "Rules."},
        *(message for turn in range(turns) for message in (human(f"Question {turn + 1}"), ai(f"Answer {turn + 1}"))),
    ]


@pytest.fixture
def chain() -> Chain:
    return make_chain(talk(6))


def text_of(page: str) -> str:
    main = page[page.index('id="lab"') :]
    return unescape(" ".join(re.sub(r"<[^>]*>", " ", main).split()))


def post(chain: Chain, strategy: Any, act: str = "look", query: str = "", **fields: Any) -> Any:
    """Sends the form of a strategy as a browser without JavaScript does."""
    client, address = Client(), f"/c/{chain.pk}/do/compact/{query}"
    page = client.post(address, {"act": "read", "json": json.dumps(strategy)}).content.decode()
    return client.post(address, {**fields_of(page), "act": act, **fields})


def test_the_page_runs_a_strategy_at_once(chain: Chain) -> None:
    page = Client().get(f"/c/{chain.pk}/do/compact/").content.decode()
    assert fields_of(page)["type@"] == ["composite"] and fields_of(page)["keep_first_request"] == ["on"]
    assert "A limit of 0 is off." in text_of(page), "the window of the model is not known, and nothing is removed unasked"
    assert re.findall(r'value="add:compactors:(\w+)"[^>]*>([^<]+)<', page)[0] == ("message_limit", "Message limit")
    assert "Nothing to compact" in text_of(page)
    assert re.search(r'id="apply"\s+data-kind="outlined">', page)


def test_a_token_limit_begins_with_the_window_of_the_recorded_model() -> None:
    chain = make_chain_of(json.dumps({"model": "claude-opus-4-5", "messages": talk(3)}).encode())
    page = Client().get(f"/c/{chain.pk}/do/compact/").content.decode()
    assert fields_of(page)["max_tokens@compactors[0]"] == ["160,000"]
    assert "claude-opus-4-5 reads at most 200,000 tokens at once." in " ".join(page.split())
    added = post(chain, {"type": "composite", "compactors": [LIMIT]}, "add:compactors:token_limit").content.decode()
    assert fields_of(added)["max_tokens@compactors[1]"] == ["160,000"]


def test_a_run_shows_its_trace_its_cut_and_what_goes(chain: Chain) -> None:
    page = post(chain, {"type": "composite", "compactors": [{"type": "token_limit", "max_tokens": 9_000}, LIMIT]})
    found = text_of(page.content.decode())
    assert "1 Token limit within its limit" in found
    assert "2 Message limit applied 12 messages, limit 3." in found
    assert "Cut after the first 10 messages" in found
    assert "target" in found
    assert "10 removed 2 kept" in found
    assert "Messages 12 2 −83%" in found
    assert "Turns 6 1" in found
    assert "1 system message at the start never compacted" in found
    assert found.count("10 removed above") == 1
    assert "The first request is removed" in found
    assert not Draft.objects.exists()


def test_the_first_request_stays_where_it_is_ticked(chain: Chain) -> None:
    found = text_of(post(chain, LIMIT, keep_first_request="on").content.decode())
    assert "8 removed 4 kept" in found and "The first request is removed" not in found
    post(chain, LIMIT, "apply", keep_first_request="on")
    kept = StoredChain(snapshot_of(Draft.objects.get()))
    assert [message.role for message in kept.slice(0, len(kept))] == ["system", "human", "ai", "human", "ai"]


def test_recorded_tokens_are_not_compared_with_an_estimate(chain: Chain) -> None:
    given = text_of(post(chain, LIMIT, prompt_tokens="9000").content.decode())
    assert re.search(r"Tokens of the next call 9,000 given ≈ [\d,]+ Bytes", given)
    for counter in ("bytes", "o200k"):
        counted = text_of(post(chain, LIMIT, counter=counter).content.decode())
        assert re.search(r"Tokens of the next call, (estimated|o200k) [\d,]+ [\d,]+ −\d+%", counted), counter


def test_a_compactor_without_effect_falls_through(chain: Chain) -> None:
    one = {"type": "split", "trigger": {"type": "always"}, "strategy": {"type": "message_limit", "max_messages": 100}}
    found = text_of(post(chain, {"type": "composite", "compactors": [one, LIMIT]}).content.decode())
    assert "1 Split removed nothing Always It always triggers." in found
    assert "Continues with the next step." in found


def test_preview_is_a_step_of_a_draft(chain: Chain) -> None:
    answer = post(chain, LIMIT, "apply")
    draft = Draft.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/c/{chain.pk}/d/{draft.pk}/")
    kept = StoredChain(snapshot_of(draft))
    assert [message.role for message in kept.slice(0, len(kept))] == ["system", "human", "ai"]
    step = steps_of(draft).all[0].snapshot
    assert step.operation == "compact"
    assert Client().get(answer.headers["Location"]).status_code == 200


def test_removing_everything_asks_first() -> None:
    chain = make_chain([human("go"), ai(None, ("c", "f", {})), result("c", "x"), ai("a"), ai("b")])
    fields = {"if_no_user_boundary": "remove_all"}
    page = post(chain, {"type": "message_limit", "max_messages": 1}, **fields).content.decode()
    assert "Everything is removed: the next call would start a new conversation." in text_of(page)
    refused = post(chain, {"type": "message_limit", "max_messages": 1}, "apply", **fields)
    assert (refused.status_code, Draft.objects.count()) == (422, 0)
    assert "tick" in refused.content.decode()
    taken = post(chain, {"type": "message_limit", "max_messages": 1}, "apply", **fields, sure="1")
    assert (taken.status_code, Draft.objects.count()) == (303, 1)


def test_a_run_that_changes_nothing_is_refused_as_a_step(chain: Chain) -> None:
    answer = post(chain, {"type": "message_limit", "max_messages": 50}, "apply")
    assert answer.status_code == 422
    assert "Nothing changes. message_limit: 12 messages, limit 50." in unescape(answer.content.decode())


def test_prompt_tokens_are_given_or_estimated(chain: Chain) -> None:
    strategy = {"type": "token_limit", "max_tokens": 1_000}
    assert "prompt tokens (estimated)" in text_of(post(chain, strategy).content.decode())
    found = text_of(post(chain, strategy, prompt_tokens="2000").content.decode())
    assert "Tokens of the next call 2,000 given" in found
    assert post(chain, strategy, prompt_tokens="many").status_code == 200
    assert post(chain, strategy, "apply", prompt_tokens="-1").status_code == 422


def test_the_tree_is_built_with_buttons(chain: Chain) -> None:
    client, address = Client(), f"/c/{chain.pk}/do/compact/"

    def press(fields: dict[str, Any], act: str, **changed: Any) -> dict[str, Any]:
        response = client.post(address, {**fields, "act": act, **changed})
        assert response.status_code == 200
        return fields_of(response.content.decode())

    fields = press(fields_of(client.get(address).content.decode()), "remove:")
    assert "type@" not in fields
    fields = press(fields, "add::message_limit")
    fields = press(fields, "wrap::split", **{"max_messages@": "7"})
    assert "trigger" in client.post(address, {**fields, "act": "look"}).content.decode()
    fields = press(fields, "add:trigger:composite_trigger")
    fields = press(fields, "add:trigger.triggers:count_at_least")
    fields = press(fields, "add:trigger.triggers:token_limit", **{"n@trigger.triggers[0]": "9"})
    fields = press(fields, "up:trigger.triggers[1]")
    read = tree.read_tree({name: values[-1] for name, values in fields.items()})
    assert read == {
        "type": "split",
        "trigger": {
            "type": "composite_trigger",
            "triggers": [{"type": "token_limit", "max_tokens": 8000, "reduction": "to_target"}, {"type": "count_at_least", "n": 9}],
        },
        "strategy": {"type": "message_limit", "max_messages": 7},
    }
    fields = press(fields, "remove:trigger.triggers[0]")
    assert "type@trigger.triggers[1]" not in fields
    fields = press(fields, "remove:strategy")
    assert "The strategy is not complete" in client.post(address, {**fields, "act": "look"}).content.decode()
    assert client.post(address, {**fields, "act": "apply"}).status_code == 422


@pytest.mark.parametrize("act", ["add:x:y", "up:", "remove:compactors[9]", "wrap:nowhere:split", "down:compactors[1]", "zzz"])
def test_odd_buttons_are_harmless(chain: Chain, act: str) -> None:
    assert post(chain, {"type": "composite", "compactors": [LIMIT, LIMIT]}, act).status_code == 200


@pytest.mark.parametrize("text", ["{", "[]", '{"type": "nothing"}', '{"type": "split"}'])
def test_json_that_is_no_strategy_is_refused_and_kept(chain: Chain, text: str) -> None:
    answer = Client().post(f"/c/{chain.pk}/do/compact/", {"act": "read", "json": text})
    assert answer.status_code == 422
    assert fields_of(answer.content.decode())["json"] == [text]


def test_a_strategy_is_downloaded_as_json(chain: Chain) -> None:
    answer = post(chain, {"type": "composite", "compactors": [LIMIT]}, "write")
    assert json.loads(answer.content) == {"type": "composite", "compactors": [LIMIT]}
    assert "strategy.json" in answer.headers["Content-Disposition"]


def test_a_number_that_is_none_is_refused_with_its_place(chain: Chain) -> None:
    found = post(chain, LIMIT, **{"max_messages@": "many"}).content.decode()
    assert "max_messages must be a whole number" in found
    assert fields_of(found)["max_messages@"] == ["many"]


@examples(60)
@given(STRATEGIES)
def test_a_form_keeps_every_strategy(value: dict[str, Any]) -> None:
    fields: dict[str, str] = {}

    def fill(node: tree.Node) -> None:
        fields[f"type@{node.place}"] = node.type
        for field in node.fields:
            fields[field.name] = field.value or (field.choices[0][0] if field.choices else "")
        for slot in node.slots:
            for inner in slot.nodes:
                fill(inner)

    strategy = parse_strategy(value)
    fill(tree.node_of(as_value(strategy)))
    read = tree.read_tree(fields)
    assert read is not None
    assert spelled(parse_strategy(read)) == spelled(strategy)


def spelled(strategy: Compactor) -> str:
    """Without the reduction that a form always names."""
    return print_strategy(strategy).replace(', "reduction": "to_target"', "")


@pytest.mark.parametrize("kind", [each.type for each in COMPACTORS])
def test_every_type_of_the_registry_has_a_form(kind: str) -> None:
    node = tree.node_of(tree.new_node(kind))
    assert node.label
    assert node.hint
    assert tree.read_tree({f"type@{node.place}": kind}) is not None


def test_summaries_can_be_the_strategy(chain: Chain) -> None:
    strategy = {"type": "split", "trigger": {"type": "count_at_least", "n": 4}, "strategy": {"type": "summarize", "preserve_last": False}}
    found = text_of(post(chain, strategy).content.decode())
    assert "Folded into summaries" in found or "Nothing is old or large enough" in found


def test_a_long_chain_runs_as_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MESSAGES_AT_ONCE", 100)
    chain = make_chain(long_story(30, 4))
    client, address = Client(), f"/c/{chain.pk}/do/compact/"
    page = client.get(address).content.decode()
    assert "runs in the background" in page
    answer = post(chain, {"type": "message_limit", "max_messages": 20})
    assert answer.status_code == 303
    waiting = client.get(answer.headers["Location"]).content.decode()
    assert "Running the strategy" in waiting
    assert fields_of(waiting)["max_messages@"] == ["20"]
    run_next_job()
    done = client.get(answer.headers["Location"]).content.decode()
    assert "252 removed 18 kept" in text_of(done)
    assert "§9 to §30" in text_of(done) or "§30" in text_of(done)
    fragment = client.get(answer.headers["Location"], headers={"HX-Request": "true", "HX-Target": "lab"}).content.decode()
    assert fragment.lstrip().startswith('<div class="changes-main" id="lab">')
    job = Job.objects.get()
    assert Ran.model_validate(job.result).removed == 252
    assert client.get(f"{address}?v=1&run=99").status_code == 404


def test_a_run_of_a_long_chain_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MESSAGES_AT_ONCE", 10)
    chain = make_chain(talk(20))
    answer = post(chain, LIMIT)
    page = Client().get(answer.headers["Location"]).content.decode()
    Client().post(answer.headers["Location"], {**fields_of(page), "act": "stop"})
    assert Job.objects.get().state == Job.State.CANCELLED
    assert "Stopped" in Client().get(answer.headers["Location"]).content.decode()


def test_one_pair_with_very_many_members_is_windowed() -> None:
    calls = [(f"c{number}", "f", {}) for number in range(400)]
    chain = make_chain([human("go"), ai(None, *calls), *(result(id, "found") for id, _, _ in calls), human("and?"), ai("x")])
    page = post(chain, {"type": "message_limit", "max_messages": 3}).content.decode()
    assert "402 removed 2 kept" in text_of(page)
    assert "362 more messages" in text_of(page)
    assert len(page) < 150_000


def test_a_strategy_is_saved_under_a_name_used_and_deleted(chain: Chain) -> None:
    client, address = Client(), f"/c/{chain.pk}/do/compact/"
    page = unescape(post(chain, LIMIT, "keep", preset_name=" Three  left ", if_no_user_boundary="remove_all").content.decode())
    preset = Preset.objects.get()
    assert "Saved as “Three left”." in page
    assert (preset.operation, preset.name) == ("compact", "Three left")
    assert json.loads(preset.options["strategy"]) == LIMIT
    fields = fields_of(client.get(address).content.decode())
    loaded = fields_of(client.post(address, {**fields, "act": f"load:{preset.pk}"}).content.decode())
    assert (loaded["type@"], loaded["max_messages@"]) == (["message_limit"], ["3"])
    assert loaded["if_no_user_boundary"] == ["remove_all"]
    assert "Three left" in client.get(f"{address}simulate/").content.decode()
    post(chain, {**LIMIT, "max_messages": 5}, "keep", preset_name="Three left")
    assert json.loads(Preset.objects.get().options["strategy"])["max_messages"] == 5
    assert "was deleted" in client.post(address, {**fields, "act": f"forget:{preset.pk}"}).content.decode()
    assert not Preset.objects.exists()


@pytest.mark.parametrize("act", ["load:9", "forget:9", "load:", "forget:x"])
def test_a_saved_strategy_that_is_gone_is_harmless(chain: Chain, act: str) -> None:
    assert post(chain, LIMIT, act).status_code == 200


def test_a_strategy_needs_a_name_and_must_be_complete(chain: Chain) -> None:
    assert post(chain, LIMIT, "keep", preset_name=" ").status_code == 422
    assert Client().post(f"/c/{chain.pk}/do/compact/", {"act": "keep", "preset_name": "x", "type@": "split"}).status_code == 422
    assert not Preset.objects.exists()


def test_saved_strategies_of_others_are_not_shown(chain: Chain) -> None:
    other = User.objects.create(username="other")
    preset = Preset.objects.create(owner=other, operation="compact", name="Secret", options={"strategy": json.dumps(LIMIT)})
    assert "Secret" not in post(chain, LIMIT, f"load:{preset.pk}").content.decode()
    post(chain, LIMIT, f"forget:{preset.pk}")
    assert Preset.objects.get() == preset


def test_a_model_writes_when_somebody_runs_it_and_is_not_asked_again(settings: Any) -> None:
    chain = make_chain([human("Find it."), *(m for n in range(4) for m in work(n, 3_000)), ai("Found."), human("And now?"), ai("Done.")])
    strategy = {"type": "fold_tools", "writer": "model"}
    assert "Fold tool exchanges with a model" not in Client().get(f"/c/{chain.pk}/do/compact/").content.decode()
    with serving(says("Module 3 was wrong.")) as server:
        settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"llm_base_url": server.url, "llm_model": "small"})
        refused = post(chain, strategy, "apply")
        assert (refused.status_code, "Press Run first" in refused.content.decode(), server.seen) == (422, True, [])
        waiting = post(chain, strategy)
        run_next_job()
        assert len(server.seen) == 1
        assert "8 removed 4 kept" in text_of(Client().get(waiting.headers["Location"]).content.decode())
        assert post(chain, strategy, "apply").status_code == 303
        assert len(server.seen) == 1, "the step has the text of the run"
    kept = StoredChain(snapshot_of(Draft.objects.get()))
    assert [message.role for message in kept.slice(0, len(kept))] == ["human", "ai", "tool", "ai", "human", "ai"]
    assert "Module 3 was wrong." in str(kept.slice(0, len(kept)))


def test_a_model_that_nobody_set_up_is_a_sentence(chain: Chain) -> None:
    waiting = post(chain, {"type": "summarize", "writer": "model"})
    run_next_job()
    assert "No model is set up" in text_of(Client().get(waiting.headers["Location"]).content.decode())
