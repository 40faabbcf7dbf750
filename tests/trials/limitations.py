"""What a program itself cannot do: the sentence for each cell that can never pass.

A cell that fails without a sentence here is a failure; one that passes in spite of it is reported, too.
"""

from __future__ import annotations

_ALONE = "run by itself"
LIMITATIONS: dict[tuple[str, str, str], str] = {
    ("gemini", _ALONE, "a session forked"): "Gemini has no option to fork a session.",
    ("copilot", _ALONE, "a session forked"): "`copilot -p` has no option to fork a session.",
}
