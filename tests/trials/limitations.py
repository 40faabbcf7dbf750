"""What a program itself cannot do: the sentence for each cell that can never pass.

A cell that fails without a sentence here is a failure; one that passes in spite of it is reported, too.
"""

from __future__ import annotations

_ALONE = "run by itself"
_DRIVEN = "driven by Dragoman"
_NO_MESSAGE = "The answer to a permission request of the Agent Client Protocol carries no message to the model."
LIMITATIONS: dict[tuple[str, str, str], str] = {
    **{
        (name, _DRIVEN, "an approval: denied with a message"): _NO_MESSAGE
        for name in ("claude-agent-acp", "codex-acp", "gemini")
    },
    ("codex-acp", _DRIVEN, "an approval: denied"): (
        "Its only way to deny a request, “No, and tell Codex what to do differently”, ends the turn."
    ),
    ("gemini", _ALONE, "a session forked"): "Gemini has no option to fork a session.",
    (
        "gemini",
        _DRIVEN,
        "a session forked",
    ): "Gemini offers no fork over the Agent Client Protocol.",
    ("copilot", _ALONE, "a session forked"): "`copilot -p` has no option to fork a session.",
}
