"""A FastMCP server whose one tool runs code in its own process: the peer of `cargo xtask bench run`."""

import ast

from fastmcp import FastMCP

server = FastMCP("run")


@server.tool
def run(command: str) -> str:
    """Run Python and return the value of the last expression."""
    tree = ast.parse(command)
    last = ast.Expression(tree.body.pop().value)
    scope = {}
    exec(compile(tree, "run.py", "exec"), scope)
    return str(eval(compile(last, "run.py", "eval"), scope))


if __name__ == "__main__":
    server.run(show_banner=False)
