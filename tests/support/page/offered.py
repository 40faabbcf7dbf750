"""The choices of the page, made from what real agents offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dragoman.harnesses import harness
from dragoman.web.page.rows import Choices, HarnessChoices, Option


def codex_choices(models: Sequence[str] = (), **facts: Any) -> HarnessChoices:
    """What Codex 0.166 offers."""
    found = harness("codex").capabilities((0, 166, 0))
    known: dict[str, Any] = {
        "name": "codex",
        "title": "Codex",
        "icon": found.icon,
        "status": "0.166.0 · signed in",
        "models": models,
        "access": [
            Option(
                value=each.value,
                label=each.label,
                summary=each.summary,
                is_full=each.level == "full",
            )
            for each in found.access
        ],
        "asking": [
            Option(value=each.value, label=each.label, summary=each.summary)
            for each in found.asking
        ],
    }
    return HarnessChoices(**{**known, **facts})


def other_choices(**facts: Any) -> HarnessChoices:
    """Another agent, which has one choice of access and no icon."""
    look = Option(value="look", label="Look", summary="It only looks.")
    known: dict[str, Any] = {"name": "other", "title": "Other agent", "status": "1.0"}
    known |= {"access": [look]}
    return HarnessChoices(**{**known, **facts})


def offered(
    models: Sequence[str] = (), folders: Sequence[str] = (), *others: HarnessChoices, **facts: Any
) -> Choices:
    """Codex first, and perhaps others."""
    return Choices(harnesses=[codex_choices(models, **facts), *others], folders=folders)
