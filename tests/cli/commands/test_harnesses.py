"""The list of agents, for a terminal and as JSON lines."""

from __future__ import annotations

from dragoman.cli.commands.harnesses import page
from dragoman.client.surveying import Survey
from dragoman.harnesses.contract.capabilities import Capabilities


def _survey(*, program: str | None, signed_in: bool | None) -> Survey:
    return Survey(
        name="toy",
        title="Toy agent",
        program=program,
        problem=None if program else "there is no toy on PATH",
        release="1.2.3" if program else None,
        signed_in=signed_in,
        needs_sign_in=True,
        transports=("stdio",),
        capabilities=Capabilities(
            can=frozenset(("resume", "interrupt")), sign_in_command="toy login", notes=("Slow.",)
        ),
    )


def test_an_installed_agent_is_listed_with_what_it_can_do() -> None:
    first, *facts = page([_survey(program="/bin/toy", signed_in=True)], colour=False)

    assert first == "✓ Toy agent 1.2.3  --harness toy"
    assert [row.split(maxsplit=1) for row in facts] == [
        ["program", "/bin/toy"],
        ["account", "signed in"],
        ["transports", "stdio"],
        ["can", "interrupt, resume"],
        ["note", "Slow."],
    ]


def test_a_missing_agent_is_listed_with_the_reason() -> None:
    first, program, account, *_ = page([_survey(program=None, signed_in=False)], colour=False)

    assert first == "✗ Toy agent  --harness toy"
    assert program.split(maxsplit=1) == ["program", "there is no toy on PATH"]
    assert account.split(maxsplit=1) == ["account", "not signed in: run toy login"]


def test_agents_are_separated_by_an_empty_line_and_may_be_coloured() -> None:
    each = _survey(program="/bin/toy", signed_in=None)

    rows = page([each, each], colour=True)

    assert rows.count("") == 1
    assert "\x1b[" in rows[0]
