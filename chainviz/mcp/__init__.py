"""An MCP server: chainviz as tools of an agent, on standard input and output or at /mcp of a team server.

In reading order: `answer` (a bounded text in which transcript content is marked as data), `library` (what the tools ask of the
machine or of the server), `machine` (files and sessions of this machine), `tools` (the tools), `server` (their schemas, and the
server that the official package runs), `team` (the chains of a team), `view` (the address /mcp).
"""
