"""Sub-agents: the calls that manage them and what those calls gave.

One call is reported in two ways: the agent's own (a function and its JSON answer) and the harness's (an
item with the state of each agent). Both come out the same here: ``Task`` gives the ids of the agents
it made, ``TaskOutput`` and ``TaskStop`` the last messages of the agents they were about, and
``SendMessage`` nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str, snake_case, texts_in
from dragoman.model import tools
from dragoman.wire import jsonl

_Input: TypeAlias = dict[str, Any]
_MANAGE: Final = frozenset((tools.TASK, tools.TASK_OUTPUT, tools.TASK_STOP, tools.SEND_MESSAGE))


def _spawn(given: _Input) -> tuple[str, _Input]:
    name = as_str(given.get("task_name"))
    return tools.TASK, {
        "prompt": _message(given),
        **({"description": name} if name else {}),
    }


def _wait(given: _Input) -> tuple[str, _Input]:
    return tools.TASK_OUTPUT, {"agent_ids": _agents(given)}


def _stop(given: _Input) -> tuple[str, _Input]:
    return tools.TASK_STOP, {"agent_ids": _agents(given)}


def _send(given: _Input) -> tuple[str, _Input]:
    return tools.SEND_MESSAGE, {"agent_ids": _agents(given), "message": _message(given)}


def _resume(given: _Input) -> tuple[str, _Input]:
    return "resume_agent", {"agent_ids": _agents(given)}


def _message(given: _Input) -> str:
    return as_str(given.get("message")) or texts_in(given.get("items")) or ""


def _agents(given: _Input) -> list[str]:
    one = as_str(given.get("target")) or as_str(given.get("id")) or as_str(given.get("agent_id"))
    many = given.get("targets", given.get("ids"))
    return [one] if one else [str(agent) for agent in as_list(many)]


_READERS: Final[dict[str, Callable[[_Input], tuple[str, _Input]]]] = {
    "spawn_agent": _spawn,
    "wait_agent": _wait,
    "close_agent": _stop,
    "interrupt_agent": _stop,
    "send_input": _send,
    "send_message": _send,
    "followup_task": _send,
    "resume_agent": _resume,
}
"""Functions by name, each with what reads its arguments."""


def reader_of(name: str, given: _Input) -> Callable[[_Input], tuple[str, _Input]] | None:
    """What reads the arguments of this function, if it manages agents.

    Up to 0.113 waiting for agents is called ``wait``, as is waiting for code mode's scripts.
    """
    if name == "wait" and ("ids" in given or "targets" in given):
        return _wait
    return _READERS.get(name)


def agent_call(tool: str, prompt: str | None, agents: list[str]) -> tuple[str, _Input]:
    """A call from the item that reports it (``spawnAgent``, ``wait`` …)."""
    name = tool.replace("_", "").lower()
    if name.startswith("spawn"):
        return tools.TASK, {"prompt": prompt or ""}
    if name.startswith("wait"):
        return tools.TASK_OUTPUT, {"agent_ids": agents}
    if name.startswith(("close", "interrupt")):
        return tools.TASK_STOP, {"agent_ids": agents}
    if name.startswith(("send", "followup")):
        return tools.SEND_MESSAGE, {"agent_ids": agents, "message": prompt or ""}
    if name.startswith("resume"):
        return "resume_agent", {"agent_ids": agents}
    return tool, {"agent_ids": agents, **({"prompt": prompt} if prompt else {})}


def activity_call(kind: str, agent_path: str) -> tuple[str, _Input] | None:
    """A call from the report that an agent was started, written to or stopped; there is no more."""
    name = agent_path.removeprefix("/root/")
    if kind == "started":
        return tools.TASK, {"description": name}
    if kind == "interacted":
        return tools.SEND_MESSAGE, {"agent_ids": [name]}
    return (tools.TASK_STOP, {"agent_ids": [name]}) if kind == "interrupted" else None


def reported(tool: str, agents: list[str], states: Any) -> str:
    """What a call gave, from the item that reports it."""
    if tool == tools.TASK:
        return "\n".join(agents)
    return "" if tool == tools.SEND_MESSAGE else _last_words(as_dict(states))


def answered(tool: str, output: str) -> tuple[str, bool]:
    """What a call gave, from the answer of its function, and whether an agent failed.

    Anything but the JSON that we know is kept unchanged.
    """
    if tool not in _MANAGE or not output.startswith("{"):
        return output, False
    try:
        answer = as_dict(jsonl.loads(output.encode()))
    except jsonl.NotJson:
        return output, False
    if tool == tools.TASK:
        made = as_str(answer.get("agent_id")) or as_str(answer.get("task_name"))
        return made or output, False
    if tool == tools.SEND_MESSAGE:
        return "" if "submission_id" in answer else output, False
    if answer.get("timed_out"):
        return "timed out", False
    states = answer.get("previous_status", answer.get("status"))
    if tool == tools.TASK_STOP and states is not None:
        states = {"": states}
    if not isinstance(states, dict):
        is_empty = states is None and answer.get("message") == "Wait completed."
        return "" if is_empty else output, False
    known = as_dict(states)
    return _last_words(known), any(map(_is_failed, known.values()))


def _is_failed(state: Any) -> bool:
    return state == "not_found" or "errored" in as_dict(state)


def _last_words(states: dict[str, Any]) -> str:
    said = [_state(state) for _, state in sorted(states.items())]
    return "\n".join(filter(None, said))


def _state(state: Any) -> str:
    """``"pending_init"``, ``{"completed": "done"}`` or ``{"status": "completed", "message": …}``."""
    given = as_dict(state)
    if not given:
        return snake_case(as_str(state) or "")
    if "status" in given:
        return as_str(given.get("message")) or snake_case(str(given["status"]))
    name, words = next(iter(given.items()))
    return as_str(words) or name
