from __future__ import annotations

import asyncio

from dragoman.cli.approvals.unattended import deny_unattended
from dragoman.model.messages import ApprovalRequested


def test_a_request_is_denied_with_a_notice_on_one_line() -> None:
    notices: list[str] = []
    request = ApprovalRequested(approval_id="1", kind="command", summary="rm -rf\n\x1b[31m /tmp/x")

    decision = asyncio.run(deny_unattended(notices.append)(request))

    assert (decision.word, decision.by) == ("deny", "no one to ask")
    (notice,) = notices
    assert notice.startswith("denied command: rm -rf")
    assert "\n" not in notice
    assert "\x1b" not in notice
    assert "this is not a terminal" in notice
