"""Drives a gateway with one of the Python clients, for checks.mjs.

driver.py SETTINGS   JSON: library, mode, form, root, and either command or url and token

Prints the negotiated revision, then answers each line {"method", "params"} with a line {"result"} or {"error"}.
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack, asynccontextmanager

PATIENCE = 60
METHODS = {
    "tools/list": "list_tools",
    "tools/call": "call_tool",
    "resources/list": "list_resources",
    "resources/read": "read_resource",
    "prompts/list": "list_prompts",
    "prompts/get": "get_prompt",
}


def callbacks(settings):
    """Return the callbacks with which `mcp` of either generation answers a server's questions."""
    from mcp import types

    async def sample(_context, params):
        text = f"sampled: {params.messages[0].content.text}"
        return types.CreateMessageResult(role="assistant", model="none", content=types.TextContent(type="text", text=text))

    async def elicit(_context, _params):
        return types.ElicitResult(action="accept", content=settings["form"])

    async def list_roots(_context):
        return types.ListRootsResult(roots=[types.Root(uri=settings["root"])])

    return {"sampling_callback": sample, "elicitation_callback": elicit, "list_roots_callback": list_roots}


def stdio_parameters(settings):
    from mcp import StdioServerParameters

    command, *arguments = settings["command"]
    return StdioServerParameters(command=command, args=arguments)


@asynccontextmanager
async def http_streams(httpx, settings):
    """Open the HTTP transport of `mcp` with the HTTP library of its generation."""
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {settings['token']}"}
    async with httpx.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        async with streamable_http_client(settings["url"], http_client=http) as streams:
            yield streams


@asynccontextmanager
async def mcp1(settings):
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client

    async with AsyncExitStack() as stack:
        if "url" in settings:
            import httpx

            streams = http_streams(httpx, settings)
        else:
            streams = stdio_client(stdio_parameters(settings))
        reader, writer, *_ = await stack.enter_async_context(streams)
        session = await stack.enter_async_context(ClientSession(reader, writer, **callbacks(settings)))
        yield session, (await session.initialize()).protocolVersion


@asynccontextmanager
async def mcp2(settings):
    import httpx2
    from mcp import Client

    server = http_streams(httpx2, settings) if "url" in settings else stdio_parameters(settings)
    async with Client(server, mode=settings["mode"], **callbacks(settings)) as client:
        yield client, client.protocol_version


@asynccontextmanager
async def fastmcp(settings):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

    async def sample(messages, _params, _context):
        return f"sampled: {messages[0].content.text}"

    async def elicit(_message, _response_type, _params, _context):
        return settings["form"]

    if "url" in settings:
        transport = StreamableHttpTransport(settings["url"], auth=settings["token"])
    else:
        command, *arguments = settings["command"]
        transport = StdioTransport(command, arguments)
    handlers = {"sampling_handler": sample, "elicitation_handler": elicit, "roots": [settings["root"]]}
    async with Client(transport, mode=settings["mode"], **handlers) as client:
        yield client, client.protocol_version


async def main(settings):
    libraries = {"mcp1": mcp1, "mcp2": mcp2, "fastmcp": fastmcp}
    # FastMCP's plain methods return its own types; those with the suffix return the protocol's.
    suffix = "_mcp" if settings["library"] == "fastmcp" else ""
    async with libraries[settings["library"]](settings) as (client, revision):
        print(json.dumps(revision), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            request = json.loads(line)
            method = getattr(client, METHODS[request["method"]] + suffix)
            try:
                result = await asyncio.wait_for(method(**request["params"]), PATIENCE)
            except Exception as error:
                response = {"error": f"{type(error).__name__}: {error}"}
            else:
                response = {"result": result.model_dump(mode="json", by_alias=True, exclude_none=True)}
            print(json.dumps(response), flush=True)


asyncio.run(main(json.loads(sys.argv[1])))
