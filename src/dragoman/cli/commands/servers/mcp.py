"""``dragoman mcp``: offers saved sessions to agents, as an MCP server."""

from __future__ import annotations

import os
import sys

from dragoman.cli import lazy_click as click
from dragoman.cli.archive_options import home_option


@click.command(short_help="Offer saved sessions to agents, over MCP.")
@home_option
def mcp(paths: tuple[str, ...]) -> int:
    """Serve the Model Context Protocol on standard input and output.

    Agents get read-only tools over all saved sessions: search_sessions, list_sessions, session_overview,
    read_session, usage and resume_command. Secrets are masked, and the session that asks is left out.

    \b
    codex mcp add history -- dragoman mcp
    claude mcp add history -- dragoman mcp
    """
    if sys.stdin.isatty():
        raise click.UsageError(
            "an agent starts this command and talks to it: add `dragoman mcp` to the agent's MCP servers "
            "(`dragoman mcp --help` shows how)"
        )
    from dragoman.archive.api import SessionArchive
    from dragoman.mcp_server.serving import McpService, serve

    with SessionArchive(paths=paths) as archive:
        serve(McpService(archive, os.environ), sys.stdin.buffer, sys.stdout.buffer)
    return 0
