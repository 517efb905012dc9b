"""Addresses of drafts: what changes a chain, and the draft in which changes wait to be saved."""

from __future__ import annotations

from django.urls import include, path

from chainviz.chains.explorer.urls import explorer_urls
from chainviz.drafts.edit import edit_page as edit
from chainviz.drafts.edit import history as restore
from chainviz.drafts.operations import operation_page, recipe_page
from chainviz.drafts.preview import conflicts as conflict
from chainviz.drafts.preview import conflicts as save
from chainviz.drafts.preview import draft_page as draft
from chainviz.drafts.simulation import simulation_page as simulation
from chainviz.drafts.state import import_page
from chainviz.drafts.state import state_page as state
from chainviz.drafts.summaries import run_page as summary_run
from chainviz.drafts.summaries import summary_choices
from chainviz.drafts.target import draft_subject

app_name = "drafts"

DRAFT = "c/<int:chain_id>/d/<int:draft_id>/"
RUN = "c/<int:chain_id>/summaries/<int:run_id>/"

urlpatterns = [
    path("c/<int:chain_id>/earlier/<str:where>", restore.earlier, name="earlier"),
    path("c/<int:chain_id>/diff/<int:before>..<int:after>/restore", restore.restore_text, name="restore_text"),
    path("c/<int:chain_id>/edit/<str:path>", edit.edit, name="edit"),
    path("c/<int:chain_id>/do/summarize/prompt", summary_choices.prompt, name="prompt"),
    path("c/<int:chain_id>/do/compact/simulate/", simulation.simulation, name="simulation"),
    path("c/<int:chain_id>/state/", state.state, name="state"),
    path("c/<int:chain_id>/state/step", state.step, name="state_step"),
    path("c/<int:chain_id>/state/import/", import_page.state_import, name="state_import"),
    path("c/<int:chain_id>/state/document", state.document, name="state_document"),
    path(RUN, summary_run.summaries, name="summaries"),
    path(f"{RUN}status", summary_run.status, name="summaries_status"),
    path(f"{RUN}do", summary_run.do, name="summaries_do"),
    path(f"{RUN}piece/<int:piece_id>/", summary_run.piece, name="summary"),
    path(f"{RUN}piece/<int:piece_id>/do", summary_run.do_piece, name="summary_do"),
    path(f"{RUN}piece/<int:piece_id>/prompt", summary_run.prompt, name="summary_prompt"),
    path("c/<int:chain_id>/recipe/", recipe_page.recipe_page, name="recipe"),
    path("c/<int:chain_id>/do/<slug:name>/", operation_page.operation, name="operation"),
    path("c/<int:chain_id>/repair/", operation_page.operation, {"name": "repair"}, name="repair"),
    path(DRAFT, draft.draft, name="draft"),
    path(f"{DRAFT}undo", draft.undo, name="undo"),
    path(f"{DRAFT}redo", draft.redo, name="redo"),
    path(f"{DRAFT}discard", draft.discard, name="discard"),
    path(f"{DRAFT}restore", draft.bring_back, name="restore"),
    path(f"{DRAFT}save", save.save, name="save"),
    path(f"{DRAFT}conflict", conflict.conflict, name="conflict"),
    path(f"{DRAFT}rebase", conflict.rebase, name="rebase"),
    path(f"{DRAFT}branch", conflict.branch, name="branch"),
    path(f"{DRAFT}explore/", include(explorer_urls(draft_subject, "explore_"))),
]
