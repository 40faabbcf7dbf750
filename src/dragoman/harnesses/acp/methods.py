"""The methods of the protocol, by who calls them, and the private ones that agents were seen to call."""

from __future__ import annotations

from typing import Final

CHANNEL: Final = "control"
PROTOCOL_VERSION: Final = 1

HOST_METHODS: Final = frozenset(
    (
        "initialize",
        "authenticate",
        "logout",
        "session/new",
        "session/load",
        "session/resume",
        "session/fork",
        "session/list",
        "session/delete",
        "session/close",
        "session/prompt",
        "session/cancel",
        "session/set_mode",
        "session/set_model",
        "session/set_config_option",
    )
)
PRIVATE: Final = {
    "$/cancel_request": "a request was withdrawn",
    "elicitation/complete": "an elicitation is complete",
    "_auth/status_update": "how the agent is signed in",
    "craft/drainMidTurnQueue": "the agent asked for queued prompts",
    "_qwencode/start_turn": "a turn of the agent's own began",
    "qwen/notify/session/mode-update": "the mode of the session",
    "qwen/notify/session/prompt-suggestion": "a prompt that the agent suggests",
}
"""What says something about the agent and nothing to the user, by its method."""


def is_about_files(method: str) -> bool:
    """Whether an agent asks its host for a file or a terminal."""
    return method.startswith(("fs/", "terminal/"))
