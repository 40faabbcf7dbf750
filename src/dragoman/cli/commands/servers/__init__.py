"""Commands that other programs talk to: an MCP server, and relays."""
