"""An MCP server: chainviz as tools of an agent, on standard input and output or at /mcp of a team server.

In reading order: `library` (what the tools ask of the machine or of the server, files and sessions of this machine, and the
bounded text that they answer), `server` (the tools, their schemas, and the server that the official package runs),
`team` (the chains of a team, and the address /mcp).
"""
