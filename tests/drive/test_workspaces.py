from pathlib import Path

import pytest

from dragoman.drive.workspaces import check_workspace, take_workspace
from dragoman.errors import InvalidWorkspace


def test_a_directory_is_taken_as_text(tmp_path: Path) -> None:
    assert check_workspace(tmp_path) == str(tmp_path)


@pytest.mark.parametrize(
    ("cwd", "why"),
    [
        ("", "no directory was given"),
        ("src", "must be absolute, not 'src'"),
        ("/no/such/place", "it does not exist"),
        (__file__, "it is not a directory"),
    ],
)
def test_anything_else_is_refused_with_the_reason(cwd: str, why: str) -> None:
    with pytest.raises(InvalidWorkspace, match=why) as caught:
        check_workspace(cwd)
    assert caught.value.kind == "invalid_workspace_cwd"


def test_a_directory_elsewhere_is_not_looked_at() -> None:
    assert take_workspace("/no/such/place") == "/no/such/place"
