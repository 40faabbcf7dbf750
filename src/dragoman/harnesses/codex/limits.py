"""What a dialect of Codex cannot carry, release by release.

Everything else is the same in every dialect: that is tested, with this table, over the
recordings. A line stands here because a recording shows it.
"""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.codex.sniff import (
    APP_SERVER,
    APP_SERVER_V1,
    EXEC,
    EXEC_EXPERIMENTAL,
    EXEC_OLD,
    MCP_SERVER,
    PROTO,
    ROLLOUT,
    ROLLOUT_FLAT,
)
from dragoman.harnesses.contract.reading import Limit
from dragoman.model.tools import (
    ASK_USER,
    BASH_OUTPUT,
    READ,
    TODO_WRITE,
    TOOL_SEARCH,
    WEB_FETCH,
    WEB_SEARCH,
)

_OLD: Final = (EXEC_EXPERIMENTAL, EXEC_OLD, PROTO)
_LIVE: Final = (EXEC, *_OLD, MCP_SERVER, APP_SERVER_V1, APP_SERVER)


def _limits(
    aspect: str,
    why: str,
    *dialects: str,
    tools: tuple[str, ...] = (),
    since: str = "0.0.0",
    until: str = "9999.0.0",
) -> list[Limit]:
    return [
        Limit(dialect=name, aspect=aspect, why=why, tools=tools, since=since, until=until)
        for name in dialects
    ]


_STREAMS: Final = (
    *_limits("prompts", "the prompt is not in the stream", EXEC, EXEC_EXPERIMENTAL),
    *_limits(
        "raw thinking",
        "only summaries of reasoning are reported",
        EXEC,
        EXEC_EXPERIMENTAL,
        EXEC_OLD,
    ),
    *_limits(
        "raw thinking", "only summaries of reasoning are reported", APP_SERVER_V1, until="0.52.0"
    ),
    *_limits("plan progress", "a step is done or not", EXEC, EXEC_EXPERIMENTAL),
    *_limits("plan explanation", "the explanation is not reported", EXEC, EXEC_EXPERIMENTAL),
    *_limits("edit diffs", "a change has a path and a kind only", EXEC),
    *_limits("edit moves", "a change has a path and a kind only", EXEC, EXEC_EXPERIMENTAL),
    *_limits(
        "edit outputs",
        "the output of the patch tool is not reported",
        EXEC,
        EXEC_EXPERIMENTAL,
        APP_SERVER,
    ),
    *_limits("mcp inputs", "an MCP call has a server, a tool and a status", EXEC, until="0.52.0"),
    *_limits("mcp outputs", "an MCP call has a server, a tool and a status", EXEC, until="0.52.0"),
    *_limits("usage", "tokens are not reported", EXEC_EXPERIMENTAL),
    *_limits("reasoning tokens", "reasoning is not counted apart", EXEC, until="0.124.0"),
    *_limits(
        "agent usage",
        "an agent that knows its parent's history counts its parent's tokens",
        APP_SERVER,
        since="0.125.0",
        until="0.128.0",
    ),
    *_limits(
        "agent usage",
        "a run that branches off counts what the session before it has spent, and does not say so",
        EXEC,
        since="0.148.0",
    ),
    *_limits("unfinished usage", "a turn that was cut off reports no tokens", EXEC, APP_SERVER),
    *_limits(
        "order",
        "a call is reported when it runs, which may be after what was written later",
        *_LIVE,
    ),
    *_limits(
        "refused calls",
        "a call that is refused before it runs is not reported",
        EXEC,
        *_OLD,
        APP_SERVER_V1,
        APP_SERVER,
    ),
    *_limits(
        "command beginnings",
        "the first words of a command may be missing",
        EXEC,
        MCP_SERVER,
        APP_SERVER_V1,
        APP_SERVER,
        since="0.98.0",
        until="0.159.0",
    ),
)
_CALLS: Final = (
    *_limits(
        "calls",
        "a plan is reported as a plan, not as a call",
        EXEC,
        *_OLD,
        APP_SERVER_V1,
        APP_SERVER,
        tools=(TODO_WRITE,),
    ),
    *_limits("calls", "a search for tools is not reported", EXEC, APP_SERVER, tools=(TOOL_SEARCH,)),
    *_limits(
        "calls",
        "input for a running command is not reported",
        EXEC,
        APP_SERVER,
        tools=(BASH_OUTPUT,),
    ),
    *_limits("calls", "a question is reported as a question", APP_SERVER, tools=(ASK_USER,)),
    *_limits(
        "calls",
        "a request for permissions is reported as a question",
        APP_SERVER,
        tools=("request_permissions",),
    ),
    *_limits(
        "calls",
        "goals are reported as notices, the clock not at all",
        EXEC,
        APP_SERVER,
        tools=("create_goal", "update_goal", "get_goal", "clock."),
    ),
    *_limits(
        "calls",
        "image generation is not reported, or without its prompt",
        EXEC,
        APP_SERVER,
        tools=("image_generation",),
    ),
    *_limits(
        "calls",
        "a script of code mode is reported as the tools it calls",
        EXEC,
        APP_SERVER,
        tools=("exec", "functions."),
        since="0.146.0",
    ),
    *_limits(
        "letters",
        "a message from one agent to another is reported without its text",
        EXEC,
        APP_SERVER,
        since="0.125.0",
    ),
    *_limits(
        "strange steps",
        "what a sub-agent does is reported as if its parent did it",
        EXEC,
        since="0.87.0",
        until="0.107.0",
    ),
    *_limits("calls", "looking at an image is not reported", EXEC, EXEC_OLD, PROTO, tools=(READ,)),
    *_limits(
        "calls", "looking at an image is not reported", APP_SERVER_V1, tools=(READ,), until="0.52.0"
    ),
    *_limits(
        "calls",
        "MCP calls and looking at images are not reported",
        EXEC_EXPERIMENTAL,
        tools=("mcp__", READ),
    ),
    *_limits(
        "calls",
        "opening a page that a search found is not reported",
        EXEC,
        APP_SERVER,
        APP_SERVER_V1,
        tools=(WEB_FETCH,),
        until="0.97.0",
    ),
)
_FILES: Final = (
    *_limits("usage", "tokens are not in the file", ROLLOUT_FLAT),
    *_limits("outcome", "the end of a turn is not in the file", ROLLOUT_FLAT),
    *_limits("outcome", "the end of a turn is not in the file", ROLLOUT, until="0.99.0"),
    *_limits("failures", "that a turn failed is not in the file", ROLLOUT, until="0.145.0"),
    *_limits(
        "failed ends",
        "a failure is answered before the file has the turn's end, which is missing if the program "
        "is stopped then",
        MCP_SERVER,
    ),
    *_limits("long outputs", "a long output is cut", ROLLOUT, ROLLOUT_FLAT),
    *_limits("late results", "the end of a call that outlives its turn may be missing", ROLLOUT),
    *_limits(
        "lookalike prompts",
        "a prompt that looks like injected context is read as context",
        ROLLOUT,
        ROLLOUT_FLAT,
        until="0.86.0",
    ),
    *_limits(
        "mcp errors",
        "that an MCP call failed is not in the file",
        ROLLOUT,
        ROLLOUT_FLAT,
        until="0.141.0",
    ),
    *_limits(
        "dynamic errors",
        "that a dynamic tool failed is not in the file",
        ROLLOUT,
        until="0.150.0",
    ),
    *_limits(
        "calls",
        "web searches are not in the file",
        ROLLOUT,
        ROLLOUT_FLAT,
        tools=(WEB_SEARCH,),
        until="0.59.0",
    ),
    *_limits(
        "scripts",
        "what a script of code mode calls is only in the script",
        ROLLOUT,
        until="0.150.0",
    ),
    *_limits(
        "scripted plans",
        "a plan made by a script of code mode is only in the script",
        ROLLOUT,
        since="0.146.0",
    ),
    *_limits(
        "review work",
        "what a reviewer calls is in a file of its own",
        ROLLOUT,
    ),
    *_limits(
        "promptless turns", "a turn that only compacts is not in the file", ROLLOUT, until="0.99.0"
    ),
    *_limits(
        "turn usage",
        "what is spent between turns is counted to the turn before",
        ROLLOUT,
        until="0.99.0",
    ),
    *_limits(
        "tail",
        "the last rows are lost when the process is stopped early",
        ROLLOUT,
        until="0.44.0",
    ),
    *_limits(
        "edit diffs",
        "a change is what the agent wrote, without line numbers",
        ROLLOUT,
        ROLLOUT_FLAT,
        until="0.128.0",
    ),
    *_limits("edit paths", "the directory is not in the file", ROLLOUT_FLAT, until="0.21.0"),
    *_limits(
        "command outputs",
        "only one of output and error output is in the file",
        ROLLOUT_FLAT,
        until="0.20.0",
    ),
    *_limits(
        "lost texts", "a text that came with a call, or was cut off, is not kept", ROLLOUT_FLAT
    ),
    *_limits("thinking", "reasoning is not in the file", ROLLOUT_FLAT, until="0.8.0"),
)

LIMITS: Final[tuple[Limit, ...]] = (*_STREAMS, *_CALLS, *_FILES)
