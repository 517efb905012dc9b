"""The server of the package `mcp` with our tools. The schema of a tool is that of its method's signature."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from inspect import Parameter, cleandoc, signature
from typing import Any, get_type_hints

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from chainviz import __version__
from chainviz.core.errors import ChainError, OptionsError, option_error
from chainviz.mcp.library import INSTRUCTIONS, Library
from chainviz.mcp.tools import READS, Tools

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
