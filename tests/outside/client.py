"""An outside MCP client (PyPI `mcp`) that drives a gateway serving onetool.yaml.

client.py COMMAND [ARGUMENT…]   over stdio
client.py URL TOKEN             over streamable HTTP

Both protocol eras are tried: `auto` speaks the stateless 2026-07-28 revision where the server has it, `legacy` begins with initialize.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

MODES = {"auto": "2026-07-28", "legacy": "2025-11-25"}
DEADLINE = 60


@asynccontextmanager
async def connect(arguments, mode):
    """Open a client over the transport that the arguments name."""
    if arguments[0].startswith(("http://", "https://")):
        url, token = arguments
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=DEADLINE) as http:
            async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                yield client
    else:
        server = StdioServerParameters(command=arguments[0], args=arguments[1:])
        async with Client(server, mode=mode) as client:
            yield client


async def failure(awaitable):
    """Return the text of the error that a call must end with, however the server reports it."""
    try:
        result = await awaitable
    except MCPError as error:
        return f"{error.message} {json.dumps(error.data)}"
    assert result.is_error, f"no error: {result}"
    return " ".join(block.text for block in result.content)


async def speaks_the_revision(client, mode):
    assert client.protocol_version == MODES[mode], client.protocol_version


async def lists_tools(client, _mode):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert "demo_echo" in tools, sorted(tools)
    schema = tools["demo_echo"].input_schema
    assert schema["type"] == "object" and "text" in schema["properties"], schema


async def calls_a_tool(client, _mode):
    result = await client.call_tool("demo_echo", {"text": "héllo 'quoted' $HOME"})
    assert not result.is_error, result
    assert result.content[0].text.strip() == "héllo 'quoted' $HOME", result


async def reads_a_text_resource(client, _mode):
    assert "demo://text" in [str(resource.uri) for resource in (await client.list_resources()).resources]
    contents = (await client.read_resource("demo://text")).contents[0]
    assert contents.text.strip() == "a text from the configuration", contents
    assert contents.mime_type == "text/plain", contents


async def reads_the_catalog(client, _mode):
    catalog = json.loads((await client.read_resource("onetool://tools")).contents[0].text)
    entry = next(tool for tool in catalog if tool["name"] == "demo.echo")
    assert "text" in entry["signature"], entry


async def gets_a_prompt(client, _mode):
    assert "greet" in [prompt.name for prompt in (await client.list_prompts()).prompts]
    message = (await client.get_prompt("greet", {"name": "Ada"})).messages[0]
    assert message.role == "user" and "Say hello to Ada." in message.content.text, message


async def refuses_an_unknown_tool(client, _mode):
    text = await failure(client.call_tool("demo_ecko", {"text": "x"}))
    assert "demo_ecko" in text, text


async def refuses_wrong_arguments_by_path(client, _mode):
    text = await failure(client.call_tool("demo_echo", {"text": 5}))
    assert "text" in text and "schema" in text.lower(), text


async def refuses_an_unknown_resource(client, _mode):
    text = await failure(client.read_resource("demo://nothing"))
    assert "not found" in text.lower(), text


async def still_answers_after_errors(client, mode):
    await calls_a_tool(client, mode)


CHECKS = [
    speaks_the_revision,
    lists_tools,
    calls_a_tool,
    reads_a_text_resource,
    reads_the_catalog,
    gets_a_prompt,
    refuses_an_unknown_tool,
    refuses_wrong_arguments_by_path,
    refuses_an_unknown_resource,
    still_answers_after_errors,
]


async def main(arguments):
    passed, failed = 0, 0
    for mode in MODES:
        async with connect(arguments, mode) as client:
            for check in CHECKS:
                try:
                    await asyncio.wait_for(check(client, mode), DEADLINE)
                except Exception as error:
                    failed += 1
                    print(f"FAILED {mode} {check.__name__}: {type(error).__name__}: {error}")
                else:
                    passed += 1
                    print(f"ok     {mode} {check.__name__}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(asyncio.run(main(sys.argv[1:])))
