"""A FastMCP server with one tool over stdio: the peer of `cargo xtask bench start`."""

from fastmcp import FastMCP

server = FastMCP("one-tool")


@server.tool
def echo(text: str) -> str:
    """Return the text."""
    return text


if __name__ == "__main__":
    server.run(show_banner=False)
