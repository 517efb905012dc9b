"""Recipes and word lists of a team: made, edited, run on one chain and on many, purged, scanned, checked."""

from __future__ import annotations

import json
import re
from io import BytesIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

import chainviz
from chainviz.accounts.models import local_member
from chainviz.accounts.permissions import Role
from chainviz.bulk.models import BulkRun
from chainviz.chains.models import Chain
from chainviz.core.errors import OptionsError
from chainviz.core.operations.compact import CompactOptions, parse_strategy, print_strategy
from chainviz.core.recipes import ALLOWED, make_step, new_step
from chainviz.core.secrets import WordList as ListValue
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.presets import save_preset
from chainviz.jobs.models import Job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.recipes.models import Recipe, WordList
from chainviz.recipes.services import change, create, fsck_recipes, save_list, value_of, without_lists
from chainviz.store.fsck import fsck
from chainviz.store.site_backup import models_to_back_up
from tests.accounts.people import client_of, make_member
from tests.chains.making import STORY, ai, human, make_chain
from tests.drafts.pages import fields_of, send_form

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def chain() -> Chain:
    return make_chain([*STORY, human("Ask Anna Meier."), ai("Anna Meier says yes.")], "a.json")


@pytest.fixture
def people(chain: Chain) -> WordList:
    typed = ListValue("People", "Anna Meier\nBrick Layer", r"c\d+x")
    return save_list(WordList(team=chain.team), typed, by=local_member(), seen=0)


@pytest.fixture
def vendor(people: WordList) -> Recipe:
    steps = (
        make_step("repair", {}),
        make_step("mask", {"word_lists": ["People"]}),
        make_step("redact", {"policy": "every", "min_bytes_saved": 0}),
    )
    return create("For the vendor", steps, by=local_member())


def test_a_recipe_is_made_edited_and_downloaded(client: Client, people: WordList, tmp_path: Any) -> None:
    made = client.post("/recipes/", {"name": "Mine", "operation": "mask"})
    recipe = Recipe.objects.get()
    assert made["Location"] == f"/recipes/{recipe.pk}/steps/1/"
    send_form(client, made["Location"], word_lists=["People"], strategy="replace", rules="email")
    send_form(client, f"/recipes/{recipe.pk}/", act="add", operation="repair")
    moved = client.post(f"/recipes/{recipe.pk}/", {"act": "up:2", "seen": 3})
    assert moved["Location"] == f"/recipes/{recipe.pk}/#up-1", "the focus stays on the step"
    recipe.refresh_from_db()
    assert recipe.steps == [["repair", {}], ["mask", {"strategy": "replace", "rules": ["email"], "word_lists": ["People"]}]]
    page = client.get(f"/recipes/{recipe.pk}/").content.decode()
    assert "Word lists" in page and "People" in page
    file = client.get(f"/recipes/{recipe.pk}/recipe.json").content
    assert json.loads(file)["word_lists"] == [{"name": "People", "words": ["Anna Meier", "Brick Layer"], "patterns": [r"c\d+x"]}]
    client.post(f"/recipes/{recipe.pk}/", {"act": "remove:2", "seen": recipe.edition})
    client.post(f"/recipes/{recipe.pk}/", {"act": "delete"})
    client.post(f"/recipes/word-lists/{people.pk}/", {"act": "delete"})
    assert not WordList.objects.exists()
    upload = SimpleUploadedFile("mine.json", file)
    answer = client.post("/recipes/", {"act": "import", "file": upload})
    assert value_of(Recipe.objects.get()).lists["People"].words == "Anna Meier\nBrick Layer"
    assert answer["Location"] == f"/recipes/{Recipe.objects.get().pk}/"
    assert list(fsck_recipes()) == []


@pytest.mark.parametrize("operation", [each.name for each in ALLOWED])
def test_the_form_of_a_step_says_no_name_or_value_as_it_is_stored(client: Client, chain: Chain, operation: str) -> None:
    row = create("Any", (new_step(operation),), by=local_member())
    page = client.get(f"/recipes/{row.pk}/steps/1/").content.decode()
    form = page[page.index("</header>") : page.index("</main>")]
    words = set(re.findall(r"[a-z]+(?:_[a-z]+)+", re.sub("<[^>]*>", " ", form)))
    assert words <= {"cache_control", "clear_tool_uses", "context_management"}, "names of Anthropic’s API"
    assert [value for value, label in re.findall(r'<option value="([a-z]+)"[^>]*>([^<]*)', form) if value == label] == []


def test_a_redaction_has_the_plain_choices_of_the_redact_page_and_keeps_what_was_chosen(client: Client, chain: Chain) -> None:
    chosen = {"policy": "keep_last_n", "tools": [], "exclude_tools": ["grep"], "parts": ["result", "reasoning"], "keep": 1}
    row = create("Any", (make_step("redact", chosen),), by=local_member())
    page = client.get(f"/recipes/{row.pk}/").content.decode()
    assert "<dd>Keep the last n</dd>" in page and "<dd>Tool results, Reasoning</dd>" in page
    address = f"/recipes/{row.pk}/steps/1/"
    page = client.get(address).content.decode()
    assert re.findall("<b>([^<]*)</b>", page[page.index("<main") :]) == ["Old results", "Every result"]
    assert '<details class="fold advanced" open>' in page and fields_of(page)["policy"] == ["keep_last_n"]
    assert send_form(client, address).status_code == 303
    row.refresh_from_db()
    assert row.steps == [["redact", chosen]]
    assert send_form(client, address, policy="by_hand").status_code == 422


def test_an_edit_of_somebody_else_is_not_overwritten_and_no_text_is_lost(client: Client, vendor: Recipe, people: WordList) -> None:
    form = fields_of(client.get(f"/recipes/word-lists/{people.pk}/").content.decode())
    assert client.post(f"/recipes/word-lists/{people.pk}/", form | {"words": ["Theirs"]}).status_code == 303
    late = client.post(f"/recipes/word-lists/{people.pk}/", form | {"words": ["My words"]})
    assert late.status_code == 409
    assert "My words" in late.content.decode() and "Theirs" in late.content.decode()
    again = fields_of(late.content.decode())
    assert client.post(f"/recipes/word-lists/{people.pk}/", again).status_code == 303
    step = fields_of(client.get(f"/recipes/{vendor.pk}/steps/2/").content.decode())
    assert client.post(f"/recipes/{vendor.pk}/steps/2/", step | {"own_words": ["typed here"]}).status_code == 303
    stale = client.post(f"/recipes/{vendor.pk}/steps/2/", step | {"own_words": ["typed there"]})
    assert stale.status_code == 409 and "typed there" in stale.content.decode()


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"name": "", "words": "Anna"}, "A name has 1 to"),
        ({"name": "A", "words": ""}, "Enter a word or a pattern"),
        ({"name": "A", "patterns": "(a"}, "Own pattern, line 1"),
        ({"name": "A", "words": "x"}, "too few letters"),
        ({"name": "People", "words": "Anna"}, "is taken"),
    ],
)
def test_a_word_list_that_cannot_be_is_refused_with_the_text_kept(client: Client, people: WordList, form: Any, said: str) -> None:
    answer = client.post("/recipes/word-lists/new/", form)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert all(text in answer.content.decode() for text in form.values())


def test_a_recipe_follows_a_list_that_is_renamed_and_keeps_one_from_deletion(client: Client, vendor: Recipe, people: WordList) -> None:
    assert client.post(f"/recipes/word-lists/{people.pk}/", {"act": "delete"}).status_code == 422
    send_form(client, f"/recipes/word-lists/{people.pk}/", name="Staff")
    vendor.refresh_from_db()
    assert value_of(vendor).steps[1].lists == ("Staff",)
    assert list(fsck_recipes()) == []


def test_a_recipe_becomes_steps_of_a_draft(client: Client, chain: Chain, vendor: Recipe) -> None:
    page = client.get(f"/c/{chain.pk}/recipe/").content.decode()
    assert "For the vendor" in page and "Fix problems → Mask secrets → Redact" in page
    answer = send_form(client, f"/c/{chain.pk}/recipe/", recipe=vendor.pk)
    draft = Draft.objects.get()
    assert answer["Location"] == f"/c/{chain.pk}/d/{draft.pk}/"
    client.post(f"/c/{chain.pk}/d/{draft.pk}/save", {"note": ""})
    written = client.get(f"/c/{chain.pk}/v/2/export?scope=chain").getvalue()
    file = client.get(f"/c/{chain.pk}/v/1/export?scope=chain").getvalue()
    assert (
        written == chainviz.load(file)[0].apply_recipe(json.loads(client.get(f"/recipes/{vendor.pk}/recipe.json").content)).chain.to_bytes()
    )
    assert b"Anna Meier" not in written


def test_a_refused_step_leaves_nothing_and_says_which(client: Client, chain: Chain) -> None:
    row = create("Odd", (make_step("repair", {}), make_step("convert", {"to": "zed"})), by=local_member())
    answer = send_form(client, f"/c/{chain.pk}/recipe/", recipe=row.pk)
    assert answer.status_code == 422 and "Step 2, Convert: " in answer.content.decode()
    assert not Draft.objects.exists()
    send_form(client, f"/c/{chain.pk}/edit/s1.p2?v=1", s1__p2__m0__c0__text="Mine.")
    draft = Draft.objects.get()
    assert send_form(client, f"/c/{chain.pk}/recipe/?draft={draft.pk}", recipe=row.pk).status_code == 422
    assert "Mine." in client.get(f"/c/{chain.pk}/d/{draft.pk}/").content.decode()


def test_a_compaction_is_saved_with_a_limit_or_not_at_all(client: Client, chain: Chain) -> None:
    made = client.post("/recipes/", {"name": "Short", "operation": "compact"})
    row = Recipe.objects.get()
    assert value_of(row).steps[0].changed_options == {"max_messages": 50, "max_tokens": 8_000}
    for nothing in ({"max_messages": "", "max_tokens": "0"}, {"max_messages": "0", "max_tokens": "0"}):
        refused = send_form(client, made["Location"], **nothing)
        assert refused.status_code == 422 and "Choose when to compact" in refused.content.decode()
    with pytest.raises(OptionsError, match="Choose when"):
        create("Odd", (make_step("compact", {}),), by=local_member())
    row.refresh_from_db()
    assert value_of(row).steps[0].changed_options == {"max_messages": 50, "max_tokens": 8_000}
    assert list(fsck_recipes()) == []


def test_the_form_of_a_compaction_offers_the_saved_strategies(client: Client, chain: Chain) -> None:
    strategy = {"type": "split", "trigger": {"type": "count_at_least", "n": 20}, "strategy": {"type": "message_limit", "max_messages": 4}}
    options = CompactOptions.model_validate({"strategy": strategy})
    saved = save_preset(local_member().user, "compact", "Last four", options)
    address = client.post("/recipes/", {"name": "Short", "operation": "compact"})["Location"]
    page = client.get(address).content.decode()
    assert "<textarea" not in page and ">Last four</option>" in page
    send_form(client, address, strategy=print_strategy(parse_strategy(strategy)), max_messages="", max_tokens="")
    words = "Split (when at least 20 messages; then keep the last 4 messages)"
    recipe = client.get(f"/recipes/{Recipe.objects.get().pk}/").content.decode()
    assert words in recipe and "{" not in recipe.partition("Steps")[2].partition("</ol>")[0]
    saved.delete()
    assert re.search(rf"<option [^>]*selected>{re.escape(words)}</option>", client.get(address).content.decode())
    assert send_form(client, address).status_code == 303, "it stays although the person deleted it"
    assert value_of(Recipe.objects.get()).steps[0].changed_options.keys() == {"strategy"}


def test_a_long_chain_is_a_job(client: Client, chain: Chain, vendor: Recipe, monkeypatch: Any) -> None:
    monkeypatch.setattr("chainviz.drafts.operations.recipe_page.is_long", lambda stored: True)
    waiting = send_form(client, f"/c/{chain.pk}/recipe/", recipe=vendor.pk)["Location"]
    assert "Running the recipe" in client.get(waiting).content.decode()
    run_waiting_jobs()
    assert client.get(waiting)["Location"] == f"/c/{chain.pk}/d/{Draft.objects.get().pk}/"
    assert Job.objects.latest("pk").state == Job.State.DONE


def test_a_recipe_runs_on_many_chains_with_one_report(client: Client, chain: Chain, vendor: Recipe) -> None:
    other = make_chain([human("Hello"), ai("Hi")], "b.json")
    client.post("/bulk/", {"act": "recipe", "chain": [chain.pk, other.pk]})
    run = BulkRun.objects.get()
    assert send_form(client, f"/bulk/{run.pk}/", do="start", recipe="999.1").status_code == 422
    send_form(client, f"/bulk/{run.pk}/", do="start", recipe=f"{vendor.pk}.{vendor.edition}")
    run_waiting_jobs()
    page = client.get(f"/bulk/{run.pk}/").content.decode()
    assert "Recipe “For the vendor”, 2 chains" in page and "1 of 2 chains changed, 1 unchanged" in page
    assert page.count('aria-label="Purge masked values in') == 1 and f"/bulk/{run.pk}/purge/" in page
    assert "Anna Meier" in client.get(f"/c/{chain.pk}/purge/?masked=2").content.decode()
    assert b"Anna Meier" not in client.get(f"/c/{chain.pk}/v/2/export?scope=chain").getvalue()
    client.post("/bulk/", {"act": "recipe", "chain": [chain.pk]})
    late = BulkRun.objects.latest("pk")
    send_form(client, f"/bulk/{late.pk}/", do="start", recipe=f"{vendor.pk}.{vendor.edition}")
    client.post(f"/recipes/{vendor.pk}/", {"act": "remove:1", "seen": vendor.edition})
    run_waiting_jobs()
    assert "was changed or deleted after this run started" in client.get(f"/bulk/{late.pk}/").content.decode()


def test_options_of_a_page_are_kept_as_a_recipe(client: Client, chain: Chain) -> None:
    answer = send_form(client, f"/c/{chain.pk}/do/redact/", policy="every", act="keep_recipe")
    row = Recipe.objects.get()
    assert answer["Location"] == f"/recipes/{row.pk}/"
    assert row.steps[0][0] == "redact" and row.steps[0][1]["policy"] == "every"
    assert not any(name.endswith("paths") for name in row.steps[0][1])
    assert not Draft.objects.exists()


def test_the_mask_page_uses_lists_and_keeps_new_ones(client: Client, chain: Chain, people: WordList) -> None:
    address = f"/c/{chain.pk}/do/mask/"
    form = {"own_words": "brick", "list_name": "Walls", "word_list": "People", "act": "keep_list"}
    page = client.post(address, form).content.decode()
    assert "“Walls” was saved and ticked." in page and "<mark>Anna Meier</mark>" in page and "<mark>brick</mark>" in page
    send_form_of = fields_of(page) | {"act": ["apply"]}
    answer = client.post(address, send_form_of)
    draft = Draft.objects.get()
    assert answer["Location"] == f"/c/{chain.pk}/d/{draft.pk}/"
    client.post(f"/c/{chain.pk}/d/{draft.pk}/save", {"note": ""})
    assert b"Anna Meier" not in client.get(f"/c/{chain.pk}/v/2/export?scope=chain").getvalue()
    for act in ("look", "keep_recipe"):
        assert client.post(address, {"own_used": "[[1]]", "act": act, "own_patterns": "("}).status_code == 422


@pytest.mark.django_db(transaction=True)  # a purge cleans the files of the database
def test_a_purge_and_a_scan_reach_word_lists_and_recipes(client: Client, chain: Chain, vendor: Recipe, people: WordList) -> None:
    create("Inline", (make_step("mask", {"own_words": "Anna Meier", "strategy": "mask"}),), by=local_member())
    save_list(people, ListValue("People", "Anna Meier\nBrick Layer\nlayer@example.com"), by=local_member(), seen=1)
    client.post("/secrets/", {"act": "scan"})
    run_waiting_jobs()
    assert "Word lists and recipes" in client.get("/secrets/").content.decode()
    send_form(client, f"/c/{chain.pk}/purge/", values="Anna Meier\nmask", title=chain.title, act="purge")
    people.refresh_from_db()
    assert people.words == "Brick Layer\nlayer@example.com"
    assert not any("Anna Meier" in json.dumps(row.steps) for row in Recipe.objects.all())
    inline = Recipe.objects.get(name="Inline")
    assert "A purge removed words or patterns" in client.get(f"/recipes/{inline.pk}/").content.decode()
    home = client.get("/recipes/").content.decode()
    assert (home.count("emptied by a purge"), home.count("changed by a purge")) == (0, 2), "the list still has words"
    assert people.purged_lines == 1
    assert "A purge removed 1 word or pattern of" in client.get(f"/recipes/word-lists/{people.pk}/").content.decode()
    assert "of the word list “People”: this step no longer" in client.get(f"/recipes/{vendor.pk}/").content.decode()
    send_form(client, f"/c/{chain.pk}/purge/", values="Brick Layer\nlayer@example.com\nc\\d+x", title=chain.title, act="purge")
    people.refresh_from_db()
    assert people.is_emptied and "Emptied by a purge" in client.get(f"/recipes/word-lists/{people.pk}/").content.decode()
    assert "A purge emptied the word list “People”" in client.get(f"/recipes/{vendor.pk}/").content.decode()
    assert client.get("/recipes/").content.decode().count("emptied by a purge") == 1
    assert list(fsck_recipes()) == [], "each recipe can still be run"


@pytest.mark.django_db(transaction=True)  # a purge cleans the files of the database
def test_a_step_of_which_a_purge_removed_some_words_is_marked_until_it_is_saved(
    client: Client, chain: Chain, vendor: Recipe, people: WordList
) -> None:
    step = make_step("mask", {"own_words": "Anna Meier\nBrick Layer", "strategy": "mask"})
    row = create("Inline", (step,), by=local_member())
    send_form(client, f"/c/{chain.pk}/purge/", values="Anna Meier", title=chain.title, act="purge")
    row.refresh_from_db()
    assert row.steps[0][1]["own_words"] == "Brick Layer" and row.marked_steps == {1}
    assert "A purge removed words or patterns of this step" in client.get(f"/recipes/{row.pk}/").content.decode()
    assert list(fsck()) == []
    change(row, without_lists(row), by=local_member(), seen=row.edition)
    people.refresh_from_db()
    save_list(people, people.value, by=local_member(), seen=people.edition)
    assert "by a purge" not in client.get("/recipes/").content.decode()


def test_another_team_and_a_viewer(client: Client, chain: Chain, vendor: Recipe, settings: Any) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team"})
    viewer = client_of(make_member(chain.team, "Vera", Role.VIEWER))
    assert viewer.get(f"/recipes/{vendor.pk}/").status_code == 200
    assert viewer.post(f"/recipes/{vendor.pk}/", {"act": "delete"}).status_code == 403
    assert "Rename" not in viewer.get(f"/recipes/{vendor.pk}/").content.decode()


def test_a_backup_holds_them() -> None:
    assert {Recipe, WordList} <= set(models_to_back_up())


@pytest.mark.parametrize("content", [b"", b"\x00", b"[1]", b'{"steps": [{"operation": "mask", "options": {"own_patterns": "("}}]}'])
def test_an_import_that_is_no_recipe_is_refused(client: Client, content: bytes) -> None:
    local_member()
    answer = client.post("/recipes/", {"act": "import", "file": BytesIO(content) if content else "", "text": ""})
    assert answer.status_code == 422 and not Recipe.objects.exists()
