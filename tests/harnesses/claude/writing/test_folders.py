from __future__ import annotations

import pytest

from dragoman.harnesses.claude.writing.folders import project_folder


@pytest.mark.parametrize(
    ("cwd", "folder"),
    [
        ("/home/ada/my_repo.git", "-home-ada-my-repo-git"),
        ("/tmp/ho/Ünï çode_x.y", "-tmp-ho--n---ode-x-y"),
        ("/tmp/ho/😀 x", "-tmp-ho----x"),
        # As the real program names them: the beginning, and a hash of the whole.
        (f"/tmp/ho/{'x' * 100}/{'y' * 98}", f"-tmp-ho-{'x' * 100}-{'y' * 91}-s2s29a"),
        (f"/tmp/ho/{'a_b.c é/' * 28}".rstrip("/"), f"-tmp-ho-{'a-b-c---' * 24}-ail56m"),
    ],
)
def test_a_folder_is_named_as_the_program_names_it(cwd: str, folder: str) -> None:
    assert project_folder(cwd) == folder
