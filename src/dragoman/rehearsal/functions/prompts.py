"""What an agent says in the user's name: its own words in tags, the user's around them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dragoman.rehearsal.script import Agent, Script, Step, Together

_ADDED = re.compile(
    r"<(session_context|system-reminder|current_datetime|system_notification|reminder|task-notification"
    r"|environment_details|todo_context|sql_tables|user-prompt-submit-hook|hook_context|available_skills"
    r"|qwen:user-prompt-submit-context|content_exclusion|agent_instructions|task-reminder)\b[^>]*>"
    r".*?</\1>",
    re.DOTALL,
)
_CONTINUE = re.compile(r"\s*(?:System: )?Please continue\.?\s*$")
_ABORTED = re.compile(r"abort|cancel|interrupt", re.IGNORECASE)
_LOOK = 300


def user_words(text: str) -> str:
    """What the user said: the text without what the agent has added."""
    words = _ADDED.sub("", text)
    return words if words == text else words.strip()


def asks_to_go_on(text: str) -> bool:
    """Whether the agent asks for the rest of an answer."""
    return _CONTINUE.match(text) is not None


def says_aborted(output: str) -> bool:
    """Whether a tool's output says that it was interrupted."""
    return _ABORTED.search(output[:_LOOK]) is not None


def is_helper(script: Script, prompts: Iterable[str]) -> bool:
    """Whether a conversation is a sub-agent's: it begins with a prompt that the script gives to one.

    These APIs have nothing else that says so.
    """
    first = next(iter(prompts), "")
    return any(task in first for turn in script.turns for task in _tasks(turn.steps))


def _tasks(steps: Iterable[Step]) -> Iterable[str]:
    for step in steps:
        if isinstance(step, Together):
            yield from _tasks(step.steps)
        elif isinstance(step, Agent):
            yield step.prompt
