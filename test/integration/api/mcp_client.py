"""Uses `/mcp` with the official Python SDK, as an assistant would.

Argument: a JSON object of addresses, keys and ids. Prints what came as one JSON object.
"""

import json
import sys

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


def client(given, key, url=None):
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=300)
    return Client(streamable_http_client(f"{url or given['url']}/mcp", http_client=http), mode=given["mode"])


def text_of(result):
    return "\n".join(block.text for block in result.content)


def failure_of(error):
    """Of a group the first one, which is the cause of the others."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


async def connected(given, answers):
    async with client(given, given["key"]) as assistant:
        answers["tools"] = [tool.name for tool in (await assistant.list_tools()).tools]
        found = await assistant.call_tool("get_agent", {"ai_agent_id": given["agent"]})
        answers["agent"] = found.structured_content["agent_name"]
        dry_run = await assistant.call_tool("update_agent", {"ai_agent_id": given["agent"], "agent_name": "Other"})
        answers["changes"] = dry_run.structured_content["changes"]
        unknown = await assistant.call_tool("get_agent", {"ai_agent_id": "no-such-agent"})
        answers["unknown"] = [unknown.is_error, text_of(unknown)]
        resource = await assistant.read_resource(f"parley://agents/{given['agent']}")
        answers["resource"] = json.loads(resource.contents[0].text)["agent_name"]
        try:
            await assistant.call_tool("no_such_tool", {})
        except Exception as error:
            answers["no_such_tool"] = failure_of(error)

        with anyio.move_on_after(0.001) as scope:
            await assistant.call_tool("list_calls", {})
        answers["cancelled"] = scope.cancelled_caught
        messages, offset = 0, 0
        while offset is not None:
            part = (await assistant.call_tool("get_call", {"call_id": given["call"], "offset": offset})).structured_content
            messages += len(part["messages"])
            offset = part.get("read_on", {}).get("offset")
        answers["messages"] = messages


async def side_by_side(given, answers):
    found = []

    async def one():
        async with client(given, given["key"]) as assistant:
            result = await assistant.call_tool("get_agent", {"ai_agent_id": given["agent"]})
            found.append(result.structured_content["agent_name"])

    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(one)
    answers["side_by_side"] = found


async def refused(given, answers, name):
    try:
        async with client(given, given[name]) as assistant:
            await assistant.list_tools()
            answers[name] = "answered"
    except BaseException as error:
        answers[name] = failure_of(error)


async def limited(given, answers):
    async with client(given, given["fresh"], given["strict"]) as assistant:
        for _ in range(30):
            result = await assistant.call_tool("list_agents", {})
            if result.is_error:
                answers["limited"] = text_of(result)
                return


async def main(given):
    answers = {}
    await connected(given, answers)
    await side_by_side(given, answers)
    await refused(given, answers, "wrong")
    await refused(given, answers, "revoked")
    await limited(given, answers)
    print(json.dumps(answers))


anyio.run(main, json.loads(sys.argv[1]))
