from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from dragoman.cli.commands.doctor import doctor
from dragoman.cli.reports.drift import page
from dragoman.client.drift import Drifted
from dragoman.harnesses.contract.program import Drift

NOTHING = Drift(reviewed=["0.66.0", "0.169.0"], names=7, new=[], unknown=[], permissions=[])


def lines(drift: Drift) -> list[str]:
    return page(Drifted(program="/bin/codex", release="0.170.0", drift=drift))


def test_nothing_new_is_said_in_so_many_words() -> None:
    assert lines(NOTHING) == [
        "/bin/codex, 0.170.0: 7 names in its schema",
        "compared with the schemas of 0.66.0 to 0.169.0 and with what Dragoman decodes",
        "",
        "affects permissions: nothing",
        "",
        "kept as unknown: nothing",
        "",
        "new: nothing",
    ]


def test_what_affects_permissions_comes_first_and_once() -> None:
    risky, other = "SandboxMode=moon", "notification a/b"
    drift = replace(NOTHING, new=[risky, other], unknown=[other], permissions=[risky])
    shown = lines(drift)
    assert shown[3:5] == ["affects permissions: 1", f"  {risky}"]
    assert shown.count(f"  {risky}") == 1
    assert shown.count(f"  {other}") == 2


def test_a_long_list_is_cut() -> None:
    drift = replace(NOTHING, new=[f"A.f{number}" for number in range(100)])
    assert lines(drift)[-1] == "  … and 40 more; --json lists all"


def test_the_installed_program_has_not_drifted(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.main(["--drift", "--json"], standalone_mode=False) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["drift"]["new"] == []
    assert found["release"]


def test_files_and_the_program_are_not_looked_at_together() -> None:
    with pytest.raises(Exception, match="use either --drift or --sessions"):
        doctor.main(["--drift", "--sessions"], standalone_mode=False)
