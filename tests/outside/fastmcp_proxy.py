"""A FastMCP proxy over stdio in front of a server that it starts: the peer of `cargo xtask bench proxy`.

fastmcp_proxy.py COMMAND [ARGUMENT…]
"""

import sys

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

if __name__ == "__main__":
    # The transport keeps the process and its session between calls.
    create_proxy(StdioTransport(sys.argv[1], sys.argv[2:])).run(show_banner=False)
