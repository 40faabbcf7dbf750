"""The answer to every request of an agent where no one can be asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dragoman.client.deciding import Decision
from dragoman.model.messages import ApprovalRequested


def deny_unattended(say: Callable[[str], None]) -> Callable[[ApprovalRequested], Any]:
    """An answer function for runs without a terminal: denies each request, with a notice."""

    async def deny(request: ApprovalRequested) -> Decision:
        from dragoman.cli.live.cells import clip, tidy

        what = clip(" ".join(tidy(request.summary or request.kind).split()), 200)
        say(
            f"denied {request.kind}: {what}; no one can answer: this is not a terminal "
            "(use --policy or --yes)"
        )
        return Decision(word="deny", by="no one to ask")

    return deny
