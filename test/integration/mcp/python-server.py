"""A server of the official Python SDK, version 1 or 2, on the port that the first argument names."""

import sys

import anyio

port = int(sys.argv[1])
try:
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.server.mcpserver.exceptions import ToolError

    server, where = MCPServer("python"), {"host": "127.0.0.1", "port": port}
except ModuleNotFoundError:
    from mcp.server.fastmcp import Context, FastMCP
    from mcp.server.fastmcp.exceptions import ToolError

    server, where = FastMCP("python", host="127.0.0.1", port=port), {}


@server.tool(description="Says the same.")
def echo(text: str) -> str:
    return text


@server.tool(description="Fails.")
def refuse() -> str:
    raise ToolError("no such order")


@server.tool(description="Answers with 10 MB.")
def big() -> str:
    return "x" * (10 * 1024 * 1024)


@server.tool(description="Says how far it is.")
async def progress(steps: int, ctx: Context) -> str:
    for step in range(steps):
        await anyio.sleep(0.1)
        await ctx.report_progress(step + 1, steps)
    return f"after {steps} steps"


hanging = 0


@server.tool(description="Says how many calls of hang there were.")
def hung() -> str:
    return f"{hanging} hung"


@server.tool(description="Never answers.")
async def hang() -> str:
    global hanging
    hanging += 1
    await anyio.sleep_forever()
    return ""


server.run(transport="streamable-http", **where)
