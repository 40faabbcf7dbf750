from __future__ import annotations

import pytest

from dragoman.rehearsal.requests import HttpRequest
from dragoman.rehearsal.server import WIRES
from dragoman.rehearsal.wires import StepCalls


@pytest.mark.parametrize(
    ("path", "served"),
    [
        ("/v1/responses", 1),
        ("/v1/messages?beta=true", 1),
        ("/v1/messages/count_tokens", 1),
        ("/v1/models", 0),
    ],
)
def test_a_path_belongs_to_one_wire_at_most(path: str, served: int) -> None:
    request = HttpRequest(1, "POST", path, {}, b"{}")

    assert [wire.serves(request) for wire in WIRES].count(True) == served


def test_a_step_that_makes_no_call_is_false() -> None:
    assert not StepCalls()
    assert StepCalls(before=({"name": "Read"},))
