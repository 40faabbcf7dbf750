from __future__ import annotations

from dragoman.harnesses.contract.writer import Loss
from dragoman.harnesses.writing.losses import LossCounter


def test_losses_are_counted_by_what_became_of_them() -> None:
    losses = LossCounter()
    losses.add("tools", "as text", name="b", kept=True)
    losses.add("thinking", "left out")
    losses.add("tools", "as text", name="a", kept=True)
    losses.add("tools", "as text", name="b", kept=True)
    losses.add("context", "left out", count=0)

    assert losses.found() == (
        Loss(kind="tools", count=3, detail="as text", names=("b", "a"), kept=True),
        Loss(kind="thinking", count=1, detail="left out"),
    )


def test_a_sentence_names_the_tools() -> None:
    assert (
        Loss(kind="tools", count=1, detail="as text", names=("b", "a")).sentence == "as text: b, a"
    )
    assert Loss(kind="thinking", count=1, detail="left out").sentence == "left out"
