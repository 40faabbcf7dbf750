from __future__ import annotations

from typing import Any

import pytest

from dragoman.drive.approvals.judging.rule import BadRule, rule


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"command": "A=b ls"}, "command: 'A=b ls' sets a variable; a rule begins with a program"),
        ({"options": ["-n"]}, "options: options list what an allowed command may use"),
        ({"command": "ls", "options": ["n"]}, "options: 'n' is not an option"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadRule) as caught:
        rule("allow", **arguments)
    assert str(caught.value).startswith(sentence)


def test_no_options_are_not_the_same_as_any() -> None:
    assert rule("allow", command="ls").options is None
    assert rule("allow", command="ls", options=[]).options == ()
