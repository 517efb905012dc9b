"""The tools, and the server of the package `mcp` that offers them. The schema of a tool is that of its method's signature."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import cache
from inspect import Parameter, cleandoc, signature
from itertools import islice
from typing import Annotated, Any, get_type_hints

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from chainviz import __version__
from chainviz.api.chain import Chain, Result
from chainviz.api.comparison import diff
from chainviz.api.json_objects import usage_lines
from chainviz.api.tree_text import problem_line, report_line
from chainviz.commands.check.check import located_lines
from chainviz.core.chain.messages import Binary, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.tree import message_paths
from chainviz.core.counts import count_text
from chainviz.core.diff.text import render_with_facts
from chainviz.core.errors import ChainError, OptionsError, option_error
from chainviz.core.pasted_errors.message import read_error
from chainviz.mcp.library import INSTRUCTIONS, Library, Search, answer, cut_text

Address = Annotated[str, Field(description="An address that list_sessions returned; on a person's machine also the path of a file.")]
Number = Annotated[int, Field(ge=1, description="Which chain of the file, from 1.")]
Count = Annotated[int, Field(ge=1, le=100)]
TextLength = Annotated[int, Field(ge=0, le=20_000, description="Characters of each text that are shown.")]
Save = Annotated[bool, Field(description="Also keep the result, as a new file or a draft. The original is never changed.")]
READS = frozenset({"list_sessions", "show_chain", "check_chain", "locate_error", "compare_chains", "show_usage"})
"""Tools that never write."""


class Tools:
    def __init__(self, library: Library) -> None:
        self._library = library

    def list_sessions(self, search: str = "", agent: str = "", project: str = "", in_texts: bool = False, limit: Count = 20) -> str:
        """List sessions and chains, newest first, with the address that the other tools take. `search` looks in titles and folders;
        with `in_texts` also in the transcripts. `agent` is a name such as claude-code or codex, `project` a part of its folder."""
        found = self._library.sessions(Search(search, agent, project, in_texts, limit))
        head = [f"{count_text(len(found.lines), 'session')}:" if found.lines else "No session matches."]
        return answer(head, found.lines, "Search for something narrower.") + (f"\nCut: {found.cut}" if found.cut else "")

    def show_chain(
        self, address: Address, chain: Number = 1, start: Annotated[int, Field(ge=1)] = 1, count: Count = 20, text: TextLength = 1_000
    ) -> str:
        """Show a window of a chain: `count` messages from message `start` (from 1), each with its path, role and parts."""
        found = self._chain(address, chain)
        paths = islice(zip(message_paths(found.tree), found.messages, strict=True), start - 1, start - 1 + count)
        last = min(len(found), start - 1 + count)
        counts = ((len(found), "message"), (found.size, "byte"), (len(found.tree.sections), "section"))
        head = [f"{address}: {found.format}, {', '.join(count_text(*each) for each in counts)}."]
        if start > len(found):
            return answer([*head, f"There is no message {start:,}."])
        rest = f"Messages {last + 1:,} to {len(found):,} follow: start={last + 1}." if last < len(found) else ""
        lines = (line for path, message in paths for line in _message_lines(str(path), message, text))
        shown = answer([*head, f"Messages {start:,} to {last:,}:"], lines, "Ask for fewer messages or shorter texts.")
        return f"{shown}\nCut: {rest}" if rest else shown

    def check_chain(self, address: Address, chain: Number = 1, provider: str = "") -> str:
        """List the problems of a chain and the verdict of the API that its agent talks to, or of `provider`, such as anthropic."""
        found = self._chain(address, chain)
        name = provider or found.provider
        verdict = found.verdict(name)
        left = [] if found.is_fully_read else ["The file is not fully read: something in it is unknown to chainviz."]
        head = [f"{name}: {verdict.text}. Problems of structure, and what {name} refuses:", *left]
        problems = [problem_line(problem) for problem in found.problems(name)]
        return answer(head if problems else [f"{name}: {verdict.text}; the structure is valid.", *left], problems)

    def locate_error(self, address: Address, error: str, chain: Number = 1) -> str:
        """Find where in a chain the cause of an API's error message is, and what fixes it. Pass the message as it was printed."""
        found, read = self._chain(address, chain), read_error(error)
        return answer([], located_lines(found, read, found.locate_error(read)))

    def fix_session(self, address: Address, write: bool = False) -> str:
        """Check what makes a session valid again, so that its agent can resume it. Only with `write`, and only where the person
        allowed writing, the session is changed, beside a backup; the agent must not be running in it."""
        fixed = self._library.fix(address, write)
        return answer([fixed.outcome], fixed.lines)

    def mask_chain(self, address: Address, chain: Number = 1, own_words: str = "", save: Save = False) -> str:
        """Replace secrets and personal data by placeholders, and report where; `own_words` are more texts to replace, a line each."""
        return self._apply(address, chain, "mask", {"own_words": own_words} if own_words else {}, save)

    def compact_chain(
        self,
        address: Address,
        chain: Number = 1,
        strategy: Annotated[str, Field(description="A compaction strategy as JSON; see `chainviz help summaries`.")] = "",
        max_messages: Annotated[int, Field(ge=0, description="Keep the last messages; 0 is no limit.")] = 0,
        save: Save = False,
    ) -> str:
        """Shorten a chain by a strategy or to a number of messages without leaving calls unanswered, and report what goes."""
        options = {"strategy": strategy, "max_messages": max_messages}
        if not any(options.values()):
            raise OptionsError("Pass a strategy or max_messages.")
        return self._apply(address, chain, "compact", {name: value for name, value in options.items() if value}, save)

    def compare_chains(self, before: Address, after: Address, before_chain: Number = 1, after_chain: Number = 1) -> str:
        """Compare two chains: two states of one conversation, or two runs of one task. Returns facts side by side and changes."""
        found = diff(self._chain(before, before_chain), self._chain(after, after_chain))
        kind = "two runs" if found.are_runs else "two states of one chain"
        counts = ", ".join(f"{count:,} {name}" for name, count in found.counts.items() if count)
        head = f"Compared as {kind}: {counts or 'no difference'}. A is {before}, B is {after}."
        return answer([head], render_with_facts(found.chains, *found.facts))

    def show_usage(self, address: Address, chain: Number = 1) -> str:
        """Show recorded and estimated tokens, the cost at list prices, the context window and the duration of a chain."""
        found = self._chain(address, chain)
        seconds = [f"duration: {found.times.seconds:,} seconds"] if found.times.seconds else []
        return answer([f"{address}: {count_text(len(found), 'message')}, {count_text(found.size, 'byte')}", *seconds], usage_lines(found))

    def _chain(self, address: str, number: int) -> Chain:
        chains = self._library.chains(address)
        if not 1 <= number <= len(chains):
            raise OptionsError(f"{address} has {count_text(len(chains), 'chain')}; there is no chain {number}.")
        return chains[number - 1]

    def _apply(self, address: str, number: int, operation: str, options: dict[str, Any], save: bool) -> str:
        before = self._chain(address, number)
        made = before.run(operation, options)
        if made.chain is before:
            return answer(["Nothing changes.", *made.warnings])
        kept = self._library.save(address, number, operation, options) if save else "Nothing was written."
        sizes = f"{before.size:,} → {made.chain.size:,} bytes, {len(before):,} → {len(made.chain):,} messages. {kept}"
        return answer([sizes], _report(made))


def _report(made: Result) -> Iterator[str]:
    yield from map(report_line, made.report)
    yield from (f"warning: {warning}" for warning in made.warnings)


def _message_lines(path: str, message: Message, most: int) -> Iterator[str]:
    yield f"{path} {message.label or message.role}, {count_text(message.size, 'byte')}"
    for part in message.parts:
        kind, text = _described(part)
        yield from f"[{kind}] {cut_text(text, most)}".split("\n")


def _described(part: Part) -> tuple[str, str]:
    """Return the kind of a part, and its text."""
    match part:
        case Text():
            return "text", part.text
        case Thinking():
            return "thinking", part.content
        case ToolCall():
            return f"call {part.id}", f"{part.name} {part.arguments}"
        case ToolResult():
            return f"{'error' if part.is_error else 'result'} of {part.call_id}", part.content
        case Image():
            return "image", f"{count_text(len(part.url), 'character')}"
        case Binary():
            return "file", f"{part.mime}, {count_text(len(part.content), 'byte')}"
        case Opaque():
            return part.kind, part.text


NAMES = tuple(name for name in vars(Tools) if not name.startswith("_"))
Run = Callable[[Callable[[], str]], Awaitable[str]]
"""Runs a tool outside of the event loop."""


@cache
def arguments_of(name: str) -> type[BaseModel]:
    """Return a model with a field for each parameter of a tool."""
    method = getattr(Tools, name)
    hints = get_type_hints(method, include_extras=True)
    parameters = [each for each in signature(method).parameters.values() if each.name != "self"]
    fields: dict[str, Any] = {
        each.name: (hints[each.name], ... if each.default is Parameter.empty else each.default) for each in parameters
    }
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def describe_tool(name: str) -> Tool:
    schema = arguments_of(name).model_json_schema()
    hints = ToolAnnotations(read_only_hint=name in READS, destructive_hint=False, open_world_hint=False)
    text = " ".join(cleandoc(getattr(Tools, name).__doc__).split())
    return Tool(name=name, description=text, input_schema=schema, annotations=hints)


def call(tools: Tools, name: str, arguments: Mapping[str, Any]) -> str:
    """Raises ChainError for a tool that does not exist, arguments that it cannot take, and what it cannot do."""
    if name not in NAMES:
        raise OptionsError(f"There is no tool “{name[:40]}”; there are {', '.join(NAMES)}.")
    try:
        read = arguments_of(name).model_validate(arguments)
    except ValidationError as error:
        raise OptionsError(" ".join(option_error(each) for each in error.errors()[:5])) from None
    return str(getattr(tools, name)(**dict(read)))


def make_server(library: Library, run: Run) -> Server[Any]:
    """Make a server with the tools of a library."""
    tools = Tools(library)

    async def list_tools(context: object, params: object) -> ListToolsResult:
        return ListToolsResult(tools=list(map(describe_tool, NAMES)))

    async def call_tool(context: object, params: Any) -> CallToolResult:
        try:
            return _result(await run(lambda: call(tools, params.name, params.arguments or {})))
        except ChainError as error:
            return _result(str(error), is_error=True)

    return Server("chainviz", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


def _result(text: str, *, is_error: bool = False) -> CallToolResult:
    text = text.encode("utf-8", "backslashreplace").decode()  # half emojis of a transcript are no text for JSON
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)


def serve_streams(library: Library) -> None:
    """Serve on standard input and output until the client closes them."""

    async def in_thread(call: Callable[[], str]) -> str:
        return await anyio.to_thread.run_sync(call)

    async def serve() -> None:
        server = make_server(library, in_thread)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(serve)
