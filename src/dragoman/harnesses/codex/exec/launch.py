"""The command line of ``codex exec --json`` for one prompt, release by release. Starts nothing.

All options stand before ``resume`` or ``fork``: there every release takes all it has, behind them
each takes others. Values are tied to their option (``--model=x``) and the prompt comes after ``--``,
so that no argument of the caller can be read as an option or a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from dragoman.errors import UsageError
from dragoman.harnesses.codex.home.trust import may_be_trusted, with_trust_withheld
from dragoman.harnesses.codex.values.toml import toml_value
from dragoman.harnesses.codex.versions import (
    ADD_DIR,
    EPHEMERAL,
    EXEC_FORK,
    EXEC_JSON,
    EXEC_RESUME,
    FULL_AUTO,
    IMAGES,
    OUTPUT_SCHEMA,
    can,
    need,
)
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.transport import Launch, OneShot

LONGEST_PROMPT: Final = 128 * 1024 - 1
"""In bytes: no argument of a Linux process can be longer."""

_SECRET: Final = re.compile(r"(token|secret|password|api_?key|authorization)$", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"(https?|data):", re.IGNORECASE)


def exec_launch(program: str, release: Release | None, shot: OneShot) -> Launch:
    """The launch for one prompt. Paths in ``shot`` are absolute, or relative to its ``cwd``.

    Raises :class:`dragoman.errors.Unsupported` for what the release cannot do and
    :class:`dragoman.errors.UsageError` for what no command line can carry.
    """
    need(release, EXEC_JSON)
    _check(shot)
    argv = (program, "exec", "--json", *_options(release, shot), *_command(release, shot))
    if any("\0" in word for word in argv):
        raise UsageError("a command line cannot carry a NUL character")
    return Launch(argv=argv, cwd=shot.cwd, stdin=False)


def _check(shot: OneShot) -> None:
    if shot.prompt == "-":
        raise UsageError("a prompt that is only '-' would be read from standard input")
    if len(shot.prompt.encode("utf-8", "surrogateescape")) > LONGEST_PROMPT:
        raise UsageError(
            f"the prompt is longer than the {LONGEST_PROMPT:,} bytes that a command line can carry"
            "; use a session, or put it into a file"
        )
    if shot.resume is not None and shot.fork is not None:
        raise UsageError("a session is either resumed or forked, not both")
    for image in shot.images:
        if _ADDRESS.match(image):
            raise UsageError("an image must be a file here, not an address; use a session")
        if "," in image:
            raise UsageError(f"the path of an image cannot have a comma here: {image}")
    for key, value in shot.config.items():
        if not key or "=" in key:
            raise UsageError(f"{key!r} is not the name of a setting")
        if secret := _secret_in(key, value):
            raise UsageError(
                f"the setting {secret!r} would show a secret on the command line; put it into the "
                "environment (env_key, bearer_token_env_var) or into config.toml"
            )


def _options(release: Release | None, shot: OneShot) -> Iterator[str]:
    if shot.skip_git_check:
        yield "--skip-git-repo-check"
    yield f"--cd={shot.cwd}"
    if shot.sandbox == "workspace-write" and can(release, FULL_AUTO):
        yield "--full-auto"
    else:
        yield f"--sandbox={shot.sandbox}"
    if shot.profile is not None:
        yield f"--profile={shot.profile}"
    if shot.model is not None:
        yield f"--model={shot.model}"
    if shot.effort is not None:
        yield f"--config=model_reasoning_effort={toml_value(shot.effort)}"
    config = dict(shot.config)
    if not shot.trust_is_decided and may_be_trusted(release, shot.sandbox, config):
        config = with_trust_withheld(config, shot.cwd)
    for key, value in config.items():
        yield f"--config={key}={toml_value(value, key)}"
    if shot.add_dirs:
        need(release, ADD_DIR)
        yield from (f"--add-dir={path}" for path in shot.add_dirs)
    if shot.ephemeral:
        need(release, EPHEMERAL)
        yield "--ephemeral"
    if shot.output_schema is not None:
        need(release, OUTPUT_SCHEMA)
        yield f"--output-schema={shot.output_schema}"
    if shot.images:
        need(release, IMAGES)
        yield from (f"--image={path}" for path in shot.images)


def _command(release: Release | None, shot: OneShot) -> tuple[str, ...]:
    if shot.resume is not None:
        need(release, EXEC_RESUME)
        return ("resume", "--", shot.resume, shot.prompt)
    if shot.fork is not None:
        need(release, EXEC_FORK)
        return ("fork", "--", shot.fork, shot.prompt)
    return ("--", shot.prompt)


def _secret_in(key: str, value: Any) -> str | None:
    """The name of a setting that looks like a secret and has a text for a value."""
    named: Iterable[tuple[str, Any]] = ()
    if isinstance(value, Mapping):
        nested = cast("Mapping[str, Any]", value)
        named = ((f"{key}.{name}", each) for name, each in nested.items())
    elif isinstance(value, list | tuple):
        named = ((key, each) for each in cast("Sequence[Any]", value))
    elif isinstance(value, str) and _SECRET.search(key):
        return key
    return next(filter(None, (_secret_in(name, each) for name, each in named)), None)
