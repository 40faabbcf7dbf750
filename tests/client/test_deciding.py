from __future__ import annotations

from dragoman.client.deciding import Decision, allow_all, ask_always, deny_all
from dragoman.model.messages import ApprovalRequested

REQUEST = ApprovalRequested(approval_id="a", kind="command", summary="ls")


def test_front_doors_get_the_words_and_the_three_plain_policies() -> None:
    assert allow_all(REQUEST) == Decision(word="allow")
    assert deny_all(REQUEST) == Decision(word="deny")
    assert ask_always(REQUEST) is None  # pyright: ignore[reportFunctionReturnsNone]
