"""The keys of every page, in one table: scripts bind them, the help lists them, and a test holds each page free of clashes.

A page's keys are those of the scripts that it loads. A key is written as scripts bind it: `j`, `ArrowLeft`, or two in a row, `g l`.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shortcut:
    keys: tuple[str, ...]
    what: str
    needs: str = ""
    """A permission or a feature of the page without which the keys do nothing."""
    is_in_field: bool = False
    """True if the browser or a field handles it, and not a single-key shortcut."""


def _bound(keys: str, what: str, needs: str = "") -> Shortcut:
    return Shortcut(tuple(keys.split(", ")), what, needs)


def _in_field(keys: str, what: str, needs: str = "") -> Shortcut:
    return Shortcut(tuple(keys.split(", ")), what, needs, is_in_field=True)


SCRIPTS: dict[str, tuple[Shortcut, ...]] = {
    "help.js": (
        _bound("/", "Search or find", "search"),
        _bound("g i", "Inbox", "team"),
        _bound("g l", "All chains"),
        _bound("?", "This list"),
        _in_field("Escape", "Leave a field, close"),
    ),
    "palette.js": (_in_field("Ctrl k", "Search and commands"),),
    "chain/shortcuts.js": (
        _bound("j, k", "Next, previous node"),
        _bound("h, l", "Collapse, expand"),
        _bound("ArrowLeft, ArrowRight", "Collapse, expand"),
        _bound("o", "Expand or collapse all"),
        _bound("#", "Go to a message, a path or a call id"),
        _bound("Home, End", "First, last message"),
        _bound("g e", "Top of the chain"),
        _bound("], [", "Next, previous problem"),
        _in_field("Enter, Shift Enter", "Next, previous match"),
        _bound("e", "Edit this node", "edit"),
        _bound("y", "Copy this node"),
        _bound("g v", "Versions"),
        _bound("c", "Comment on this node or the selected words", "comment-here"),
        _bound("v", "Mark the section as viewed", "review"),
        _bound("f", "Finish your review", "review"),
        _bound("n, p", "Next, previous open thread", "threads-here"),
    ),
    "threads.js": (
        _bound("n, p", "Next, previous thread", "threads"),
        _bound("r", "Resolve or reopen the thread"),
        _bound("a", "Add the suggestion to the draft", "draft"),
        _in_field("Ctrl Enter", "Send the comment", "comment"),
    ),
    "drafts.js": (_bound("s", "Go to Save (Enter saves)", "save-bar"), _in_field("Ctrl Enter", "Send the form from a field")),
    "undo_keys.js": (_bound("z, Z", "Undo, redo a step of the draft", "undo"),),
    "diff.js": (_bound("], [", "Next, previous change"), _bound("u", "Split or unified")),
    "redact.js": (
        _bound("], [", "Next, previous group"),
        _bound("o", "Expand or collapse the group"),
        _bound("ArrowLeft, ArrowRight", "Previous, next example in a group"),
    ),
    "observations.js": (_bound("j, k", "Next, previous result"), _bound("], [", "Next, previous error"), _bound("c", "Go to the call")),
    "state.js": (
        _bound("j, k", "Next, previous row"),
        _bound("g p", "Go to the divider"),
        _bound("h, l", "Stored or sent column (narrow screen)"),
        _bound("n", "Next user message"),
        _bound("s", "Export"),
    ),
    "simulation.js": (
        _bound("ArrowLeft, ArrowRight", "Previous, next turn"),
        _bound("u", "Tokens, bytes or messages"),
        _bound("2, 3, 4, 5", "Strategies and other lines"),
    ),
    "parse.js": (_bound("j, k", "Next, previous AI message", "message"), _bound("t", "Strict", "message")),
    "versions.js": (_bound("g e", "Go to the explorer"),),
    "library.js": (_bound("j, k", "Next, previous chain"), _bound("x", "Tick the chain"), _bound("d", "Row height")),
    "pick.js": (_bound("c", "Compare ticked chains"),),
    "upload.js": (_bound("u", "Choose files", "upload"),),
    "tray.js": (_bound("t", "Show the tray", "upload"),),
}

EVERYWHERE = ("palette.js", "help.js")
PAGES: dict[str, tuple[str, ...]] = {
    "chains/explorer/explorer.html": ("chain/shortcuts.js", "threads.js", "undo_keys.js", "drafts.js"),
    "chains/observations/observations.html": ("observations.js",),
    "chains/parse/text.html": ("parse.js", "drafts.js", "undo_keys.js"),
    "chains/parse/message.html": ("parse.js",),
    "chains/versions/versions.html": ("versions.js",),
    "chains/library/library.html": ("library.js", "pick.js", "upload.js", "tray.js"),
    "chains/diff/diff.html": ("diff.js",),
    "chains/diff/runs.html": ("diff.js",),
    "sessions/fix.html": ("diff.js",),
    "drafts/preview/draft.html": ("diff.js", "drafts.js", "undo_keys.js"),
    "drafts/preview/conflict.html": ("diff.js", "drafts.js", "undo_keys.js"),
    "drafts/edit/edit.html": ("drafts.js", "undo_keys.js"),
    "drafts/operations/operation.html": ("drafts.js", "undo_keys.js"),
    "drafts/redact/redact.html": ("redact.js", "drafts.js", "undo_keys.js"),
    "drafts/mask/mask.html": ("redact.js", "drafts.js", "undo_keys.js"),
    "drafts/compact/compact.html": ("redact.js", "drafts.js", "undo_keys.js"),
    "drafts/state/state.html": ("state.js", "undo_keys.js"),
    "drafts/simulation/simulation.html": ("simulation.js",),
    "review/threads.html": ("threads.js",),
    "review/thread.html": ("threads.js",),
}
"""The scripts with keys of each page, in the order of its list; those of EVERYWHERE follow."""

WORDS = {"ArrowLeft": "←", "ArrowRight": "→", "Escape": "Esc", "Shift": "⇧", "Z": "⇧ Z"}


def shortcuts_of(page: str, features: Container[str]) -> list[Shortcut]:
    """Return what the keys of a page do; `features`: what the page has and the person may."""
    scripts = (*PAGES.get(page, ()), *EVERYWHERE)
    found = [each for script in scripts for each in SCRIPTS[script] if not each.needs or each.needs in features]
    first = {each.keys: each for each in reversed(found)}
    return [each for each in found if first[each.keys] is each]
