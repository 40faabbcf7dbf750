"""What a dialect of Codex cannot carry, release by release.

Everything else is the same whichever dialect tells it: that is tested, with this table, over the
recordings. A line stands here because a recording shows it.
"""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.base import Limit
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
from dragoman.model.tools import (
    ASK_USER,
    BASH_OUTPUT,
    READ,
    TODO_WRITE,
    TOOL_SEARCH,
    WEB_FETCH,
    WEB_SEARCH,
)


def _all(
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


_LIVE: Final = (EXEC, EXEC_EXPERIMENTAL, EXEC_OLD, PROTO, MCP_SERVER, APP_SERVER_V1, APP_SERVER)

LIMITS: Final[tuple[Limit, ...]] = (
    # Streams.
    *_all("prompts", "the prompt is not in the stream", EXEC, EXEC_EXPERIMENTAL),
    *_all(
        "raw thinking",
        "only summaries of reasoning are shown",
        EXEC,
        EXEC_EXPERIMENTAL,
        EXEC_OLD,
        PROTO,
    ),
    *_all("raw thinking", "only summaries of reasoning are shown", APP_SERVER_V1, until="0.52.0"),
    *_all("calls", "a plan is told as a plan, not as a call", *_LIVE, tools=(TODO_WRITE,)),
    *_all("calls", "looking for tools is not told", *_LIVE, tools=(TOOL_SEARCH,)),
    *_all(
        "calls",
        "feeding a running command is not told as a call",
        EXEC,
        APP_SERVER,
        tools=(BASH_OUTPUT,),
    ),
    *_all(
        "calls", "a question is told as a question, not as a call", APP_SERVER, tools=(ASK_USER,)
    ),
    *_all(
        "order", "a call is told when it runs, which may be after what was written later", *_LIVE
    ),
    *_all("unfinished usage", "the tokens of a turn that was cut off are not told", *_LIVE),
    *_all(
        "calls",
        "opening a page that a search found is not told",
        EXEC,
        APP_SERVER,
        APP_SERVER_V1,
        tools=(WEB_FETCH,),
        until="0.97.0",
    ),
    *_all("calls", "looking at an image is not told", EXEC, EXEC_OLD, PROTO, tools=(READ,)),
    *_all("calls", "looking at an image is not told", APP_SERVER_V1, tools=(READ,), until="0.52.0"),
    *_all("plan progress", "a step is done or not", EXEC, EXEC_EXPERIMENTAL),
    *_all("plan explanation", "the explanation is not in the stream", EXEC, EXEC_EXPERIMENTAL),
    *_all("refused calls", "a call that is refused before it runs is not told", *_LIVE),
    *_all("edit diffs", "a change has a path and a kind only", EXEC, EXEC_EXPERIMENTAL),
    *_all("edit moves", "a change has a path and a kind only", EXEC, EXEC_EXPERIMENTAL),
    *_all(
        "edit outputs",
        "what the patch tool printed is not told",
        EXEC,
        EXEC_EXPERIMENTAL,
        APP_SERVER,
    ),
    *_all("error outputs", "why a command could not start is not told", APP_SERVER),
    *_all("usage", "tokens are not in the stream", EXEC_EXPERIMENTAL),
    *_all("reasoning tokens", "reasoning is not counted apart", EXEC, until="0.124.0"),
    *_all("mcp inputs", "an MCP call has a server, a tool and a status only", EXEC, until="0.52.0"),
    *_all(
        "mcp outputs", "an MCP call has a server, a tool and a status only", EXEC, until="0.52.0"
    ),
    *_all(
        "calls",
        "MCP calls and looking at images are not told",
        EXEC_EXPERIMENTAL,
        tools=("mcp__", READ),
    ),
    *_all(
        "command beginnings",
        "the first words of a command may be missing",
        *_LIVE,
        since="0.98.0",
        until="0.159.0",
    ),
    *_all("late results", "a call that outlives its turn may not be told to its end", *_LIVE),
    *_all(
        "calls",
        "permissions are told as a question, not as a call",
        APP_SERVER,
        tools=("request_permissions",),
    ),
    *_all(
        "calls",
        "goals are told as notices, the clock not at all",
        EXEC,
        APP_SERVER,
        tools=("create_goal", "update_goal", "get_goal", "clock."),
    ),
    *_all(
        "calls",
        "making an image is not told, or without its prompt",
        EXEC,
        APP_SERVER,
        tools=("image_generation",),
    ),
    # Session files.
    *_all("usage", "tokens are not in the file", ROLLOUT_FLAT),
    *_all("outcome", "the end of a turn is not in the file", ROLLOUT_FLAT),
    *_all("outcome", "the end of a turn is not in the file", ROLLOUT, until="0.99.0"),
    *_all("long outputs", "a long output is cut as the model saw it", ROLLOUT, ROLLOUT_FLAT),
    *_all("late results", "a call that outlives its turn may not be told to its end", ROLLOUT),
    *_all(
        "lookalike prompts",
        "a prompt that looks like injected context is not told apart",
        ROLLOUT,
        ROLLOUT_FLAT,
        until="0.99.0",
    ),
    *_all(
        "scripts",
        "what a script of code mode calls is only in the script",
        ROLLOUT,
        until="0.150.0",
    ),
    *_all("failures", "that a turn failed is not in the file", ROLLOUT, until="0.150.0"),
    *_all(
        "mcp errors",
        "that an MCP call failed is not in the file",
        ROLLOUT,
        ROLLOUT_FLAT,
        until="0.141.0",
    ),
    *_all(
        "calls",
        "web searches are not in the file",
        ROLLOUT,
        ROLLOUT_FLAT,
        tools=(WEB_SEARCH,),
        until="0.59.0",
    ),
    *_all(
        "promptless turns", "a turn that only compacts is not in the file", ROLLOUT, until="0.99.0"
    ),
    *_all(
        "tail", "the last rows are lost when the process is stopped early", ROLLOUT, until="0.44.0"
    ),
    *_all(
        "calls",
        "a script of code mode is told by the tools it calls",
        *_LIVE,
        tools=("exec", "functions."),
        since="0.146.0",
    ),
    *_all(
        "scripted plans",
        "a plan made by a script of code mode is only in the script",
        ROLLOUT,
        since="0.146.0",
    ),
    *_all("edit paths", "the directory is not in the file", ROLLOUT_FLAT, until="0.20.0"),
    *_all(
        "command outputs",
        "only one of output and error output is in the file",
        ROLLOUT_FLAT,
        until="0.20.0",
    ),
    *_all(
        "lost texts", "what came in one response with a call, or was cut off, is lost", ROLLOUT_FLAT
    ),
    *_all("thinking", "reasoning is not in the file", ROLLOUT_FLAT, until="0.8.0"),
    *_all(
        "dynamic errors", "that a dynamic tool failed is not in the file", ROLLOUT, until="0.150.0"
    ),
    *_all(
        "turn usage",
        "what is spent between turns is counted to the turn before",
        ROLLOUT,
        until="0.99.0",
    ),
    *_all(
        "edit diffs",
        "a change is what the agent wrote, without line numbers",
        ROLLOUT,
        ROLLOUT_FLAT,
        until="0.128.0",
    ),
)
