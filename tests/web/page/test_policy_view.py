from __future__ import annotations

import tomllib

from dragoman.web.page.policy_view import EXAMPLE, policy
from dragoman.web.page.rows import PolicyView
from support.page.checks import check


def test_the_policy_is_shown_as_it_is_written_with_its_problem() -> None:
    page = policy(PolicyView(text="\na = '<'\n", path="p.toml", problem="no", line=2))

    assert "\n\na = &#x27;&lt;&#x27;\n</textarea>" in page
    assert "Line 2: no" in page
    check(page)


def test_the_example_is_a_policy() -> None:
    rules = tomllib.loads(EXAMPLE)

    assert rules["default"] == "ask"
    assert [each["decision"] for each in rules["rule"]] == ["allow", "deny"]
    assert "looking is fine" in policy(PolicyView())
