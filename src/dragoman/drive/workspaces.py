"""Checks the directory, the prompt and the images that an agent is given, before anything is started.

Relative paths are the caller's: they are made absolute here, since the agent works somewhere else.
For an agent on another machine the paths are not ours to look at, and are passed on as they are.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from dragoman.errors import InvalidWorkspace, Unsupported, UsageError, reason_of

CheckImages: TypeAlias = Callable[[Sequence[str | os.PathLike[str]]], list[str]]
_ADDRESS: Final = re.compile(r"(https?|data):", re.IGNORECASE)
_LARGEST_IMAGE: Final = 20 << 20
_IMAGES: Final = (
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", re.compile(rb"RIFF....WEBP", re.DOTALL)),
)
"""How the files begin that models can be shown."""


def check_workspace(cwd: str | os.PathLike[str]) -> str:
    """The directory as an absolute path. Raises :class:`InvalidWorkspace` unless it exists."""
    given = os.fspath(cwd)
    if not given:
        raise InvalidWorkspace("no directory was given to work in")
    path = _absolute(given)
    if not os.path.isdir(path):
        what = "is not a directory" if os.path.exists(path) else "does not exist"
        raise InvalidWorkspace(f"cannot work in {path}: it {what}")
    return path


def check_prompt(text: str, images: Sequence[str | os.PathLike[str]]) -> str:
    """The prompt as it is. Raises :class:`UsageError` if there is nothing in it to work on."""
    if not text.strip() and not images:
        raise UsageError("the prompt is empty: say what the agent should do")
    return text


def take_workspace(cwd: str | os.PathLike[str]) -> str:
    """The directory as it was given: it is on another machine."""
    return os.fspath(cwd)


def check_images(images: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Addresses as they are, files as absolute paths. Raises :class:`UsageError` for a missing file."""
    checked: list[str] = []
    for given in images:
        image = os.fspath(given)
        if _ADDRESS.match(image):
            checked.append(image)
            continue
        path = _absolute(image)
        if not os.path.isfile(path):
            what = "is not a file" if os.path.exists(path) else "does not exist"
            raise UsageError(f"cannot show the image {image}: it {what}")
        if not os.access(path, os.R_OK):
            raise UsageError(f"cannot show the image {image}: permission denied")
        checked.append(path)
    return checked


def take_images(images: Sequence[str | os.PathLike[str]]) -> list[str]:
    """The images as they were given: they are on another machine."""
    return [os.fspath(image) for image in images]


def inline_images(images: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Addresses as they are, files as ``data:`` addresses, for an agent that opens no files for a prompt.

    Raises :class:`UsageError` for a file that is missing, too large or not an image.
    """
    return [
        image if _ADDRESS.match(image) else _data_address(image) for image in check_images(images)
    ]


def _data_address(path: str) -> str:
    try:
        with open(path, "rb") as file:
            content = file.read(_LARGEST_IMAGE + 1)
    except OSError as problem:
        raise UsageError(f"cannot show the image {path}: {reason_of(problem)}") from None
    if len(content) > _LARGEST_IMAGE:
        raise UsageError(
            f"cannot show the image {path}: it is larger than {_LARGEST_IMAGE >> 20} MiB"
        )
    kind = next((kind for kind, mark in _IMAGES if mark.match(content)), None)
    if kind is None:
        raise UsageError(f"cannot show the image {path}: it is not a PNG, JPEG, GIF or WebP file")
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))


def no_profile(name: str) -> dict[str, Any]:
    """For an agent whose profiles cannot be read from here."""
    raise Unsupported("a profile", needs="an agent on this machine")
