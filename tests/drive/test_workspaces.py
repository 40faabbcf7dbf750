from pathlib import Path

import pytest

from dragoman.drive.workspaces import (
    check_images,
    check_prompt,
    check_workspace,
    inline_images,
    take_images,
    take_workspace,
)
from dragoman.errors import InvalidWorkspace, UsageError


def test_a_directory_is_taken_as_text(tmp_path: Path) -> None:
    assert check_workspace(tmp_path) == str(tmp_path)


@pytest.mark.parametrize(
    ("cwd", "why"),
    [
        ("", "no directory was given"),
        ("no-such-place", "/no-such-place: it does not exist"),
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


def test_a_relative_directory_is_the_callers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "repo").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))

    assert check_workspace("repo") == check_workspace("~/repo") == str(tmp_path / "repo")
    assert check_workspace(".") == str(tmp_path)


def test_images_are_addresses_or_files_of_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.png").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    addresses = ["https://example.org/a.png", "data:image/png;base64,AA=="]

    assert check_images(["a.png", *addresses]) == [str(tmp_path / "a.png"), *addresses]
    assert take_images([Path("a.png")]) == ["a.png"]


@pytest.mark.parametrize(
    ("image", "why"), [("b.png", "b.png: it does not exist"), (".", "it is not a file")]
)
def test_an_image_that_cannot_be_read_is_refused(
    image: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(UsageError, match=why):
        check_images([image])


def test_an_empty_prompt_is_refused_unless_an_image_speaks_for_it() -> None:
    for text in ("", "  \n"):
        with pytest.raises(UsageError, match="the prompt is empty"):
            check_prompt(text, [])
        assert check_prompt(text, ["shot.png"]) == text
    assert check_prompt(" hello ", []) == " hello "


def test_images_by_path_become_data_addresses(tmp_path: Path) -> None:
    picture = tmp_path / "a picture.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\nrest")
    data = "data:image/png;base64,iVBORw0KGgpyZXN0"

    assert inline_images([picture, "https://example.com/a.png", data]) == [
        data,
        "https://example.com/a.png",
        data,
    ]


@pytest.mark.parametrize("content", [b"", b"hello", b"<svg/>"])
def test_a_file_that_is_no_image_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(UsageError, match="not a PNG"):
        inline_images([tmp_path / "a.png"])
