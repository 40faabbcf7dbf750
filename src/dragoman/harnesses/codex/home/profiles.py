"""A profile as settings: what ``codex --profile NAME`` would lay over the user's configuration.

The app-server takes no ``--profile``. So the profile is read here and sent as the settings of a session:
from ``NAME.config.toml``, where releases since 0.134 look, or from ``[profiles.NAME]`` in ``config.toml``, where
those before look. ``codex exec`` reads the profile itself, so there it must be where the release looks.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any, Final

from dragoman.errors import UsageError
from dragoman.harnesses.codex.values.loose import as_dict
from dragoman.harnesses.codex.versions import PROFILE_FILES, can, spelled
from dragoman.harnesses.contract.conversation import Release

_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")


def profile_settings(name: str, read: Callable[[str], str | None]) -> dict[str, Any]:
    """The settings of a profile. ``read`` gives the text of a file in Codex's home, None if it is missing.

    Raises :class:`UsageError` if there is no such profile.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"not the name of a profile: {name!r}")
    own = f"{name}.config.toml"
    text = read(own)
    if text is not None:
        return _parse(text, own)
    profiles = as_dict(_parse(read("config.toml") or "", "config.toml").get("profiles"))
    if name not in profiles:
        known = ", ".join(sorted(profiles))
        raise UsageError(
            f"there is no profile {name!r}: Codex's home has neither {own} nor [profiles.{name}] in "
            f"config.toml{f' (known: {known})' if known else ''}"
        )
    return as_dict(profiles[name])


def check_profile(name: str, release: Release | None, read: Callable[[str], str | None]) -> None:
    """Raise :class:`UsageError` unless this release finds the profile itself. ``read`` is as above."""
    profile_settings(name, read)
    own, border = f"{name}.config.toml", spelled(PROFILE_FILES.since)
    if can(release, PROFILE_FILES):
        if read(own) is None:
            raise UsageError(
                f"`codex exec` {border} and later reads the profile {name!r} from {own} in Codex's home: "
                f"move [profiles.{name}] from config.toml to that file"
            )
        return
    if name not in as_dict(_parse(read("config.toml") or "", "config.toml").get("profiles")):
        raise UsageError(
            f"`codex exec` before {border} reads the profile {name!r} from [profiles.{name}] in config.toml: "
            f"copy {own} there"
        )


def _parse(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise UsageError(f"cannot read Codex's {file}: {problem}") from None
