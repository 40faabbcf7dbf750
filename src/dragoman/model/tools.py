"""Names of tools. They are Claude's, because most consumers know them.

Each harness maps its own tools to these names. A tool without a counterpart keeps its own name.
"""

from __future__ import annotations

from typing import Final

BASH: Final = "Bash"
BASH_OUTPUT: Final = "BashOutput"
"""Write to, or read from, a running command."""
KILL_SHELL: Final = "KillShell"
READ: Final = "Read"
WRITE: Final = "Write"
"""A change that only adds files."""
EDIT: Final = "Edit"
"""Any other change to files."""
GLOB: Final = "Glob"
GREP: Final = "Grep"
LS: Final = "LS"
WEB_SEARCH: Final = "WebSearch"
WEB_FETCH: Final = "WebFetch"
TODO_WRITE: Final = "TodoWrite"
TASK: Final = "Task"
"""Start a sub-agent."""
TASK_OUTPUT: Final = "TaskOutput"
"""Wait for, or inspect, a sub-agent."""
TASK_STOP: Final = "TaskStop"
SEND_MESSAGE: Final = "SendMessage"
ASK_USER: Final = "AskUserQuestion"
TOOL_SEARCH: Final = "ToolSearch"
SKILL: Final = "Skill"


def mcp_tool(server: str, tool: str) -> str:
    """The name of an MCP server's tool: ``mcp__server__tool``."""
    return f"mcp__{server}__{tool}"
