from __future__ import annotations

from dragoman.drive.approvals.judging.rule import rule
from dragoman.drive.approvals.judging.verdict import NOT_MEANT, RequestPlace, RuleMatch, first_match
from dragoman.drive.approvals.shell.matching import Match


def test_a_doubt_makes_it_a_question_unless_something_stricter_holds() -> None:
    rules = [rule("deny", name="no", command="x"), rule("allow", kind="command")]

    def meets(each: object) -> RuleMatch:
        return RuleMatch(Match.MAYBE, "unclear") if each is rules[0] else RuleMatch(Match.YES)

    found = first_match(rules, "deny", "x", meets)
    strict = first_match(rules[:1], "deny", "x", meets)

    assert (found.action, found.rule) == ("ask", "no")
    assert found.why == "x: rule 'no' may forbid it; unclear"
    assert (strict.action, strict.rule) == ("deny", None)


def test_the_reason_why_a_rule_does_not_allow_is_kept() -> None:
    found = first_match(
        [rule("allow", command="x")], "ask", "y", lambda _: RuleMatch(Match.NO, "too far")
    )
    silent = first_match([rule("allow", command="x")], "ask", "y", lambda _: NOT_MEANT)

    assert found.why == "y: no rule matches (rule 1: too far); the default applies"
    assert silent.why == "y: no rule matches; the default applies"


def test_silence_about_the_directory_means_the_own_one_and_nonsense_means_none() -> None:
    assert RequestPlace.of("/w", None, None, None).cwd == "/w"
    assert RequestPlace.of("/w", "sub", None, None).cwd == "/w/sub"
    assert RequestPlace.of("/w", "~", None, None).cwd is None
    assert RequestPlace.of(None, "sub", None, None).cwd is None


def test_a_link_may_lead_away() -> None:
    links = {"/w/sub/link": "/evil"}
    place = RequestPlace.of("/w", None, lambda path: links.get(path, path), None)

    assert place.certainly_in("/w/sub/x", ["sub/**"])
    assert place.certainly_in("/w/sub", ["sub/**"])
    assert not place.certainly_in("/w/sub/link", ["sub/**"])
    assert not place.certainly_in("/w", ["sub/**"])
    assert place.perhaps_in("/w/sub/link", ["sub/**"])


def test_a_directory_that_cannot_be_looked_at_is_not_the_own_one() -> None:
    def fails(path: str) -> str:
        raise OSError(path)

    place = RequestPlace.of("/w", "/x", fails, None)

    assert not place.is_own("/x")
    assert place.is_own("/w")
