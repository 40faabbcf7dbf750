"""``dragoman doctor``: checks the installation, one line per check, with a fix for each failure."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from dragoman import __version__
from dragoman.cli import lazy_click as click
from dragoman.cli.agent_option import agent_option
from dragoman.cli.streams import standard_output

if TYPE_CHECKING:
    from dragoman.client.examining import Examination

Level: TypeAlias = Literal["ok", "warn", "fail"]
_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The result of one check."""

    name: str
    level: Level
    text: str
    fix: str | None = None
    """How to fix it."""
    harness: str | None = None
    """The agent that it is about."""
    title: str | None = None


@click.command(short_help="Check the installation, and say how to fix it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, one per check.")
@click.option(
    "--command", metavar="PATH", help="The agent's program. Found automatically by default."
)
@agent_option("Check only this agent: {agents}. All agents by default.")
@click.option(
    "--sessions", is_flag=True, help="Check saved sessions instead: all, or the given PATHS or ids."
)
@click.option(
    "--drift", is_flag=True, help="Compare the program's own schema with what Dragoman knows."
)
@click.option("--repair", is_flag=True, help="With --sessions: write repaired copies.")
@click.option("-o", "--output", metavar="DIR", help="With --repair: the folder for the copies.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
def doctor(
    as_json: bool,
    command: str | None,
    harness: str | None,
    sessions: bool,
    drift: bool,
    repair: bool,
    output: str | None,
    paths: tuple[str, ...],
) -> int:
    """Check that the agent is installed, starts, is signed in, and can work here.

    With --sessions, check the files of saved sessions. Exit code 1: something is broken; its line
    says how to fix it.

    With --drift, ask the program for its schema and list what is new, what would be kept as unknown,
    and what affects permissions. Exit code 3: something is new; 1: the program gave no schema.

    \b
    dragoman doctor
    dragoman doctor --drift
    dragoman doctor --sessions
    dragoman doctor --sessions broken.jsonl --repair -o repaired
    """
    from dragoman.cli.live.loop import run_async

    if not sessions and (repair or output or paths):
        raise click.UsageError("--repair, -o and PATHS need --sessions.")
    if drift and sessions:
        raise click.UsageError("use either --drift or --sessions.")
    if drift:
        from dragoman.cli.reports.drift import check_drift

        return run_async(lambda: check_drift(command, harness=harness, as_json=as_json))
    if sessions:
        from dragoman.cli.reports.sessions import check_sessions, repair_sessions

        if not repair:
            return check_sessions(paths, as_json=as_json)
        return run_async(lambda: repair_sessions(paths, output, command=command, as_json=as_json))
    return run_async(lambda: _doctor(command, harness, as_json=as_json))


async def _doctor(command: str | None, harness: str | None, *, as_json: bool) -> int:
    from dragoman.cli.commands.serve import data_folder
    from dragoman.client.surveying import driven_names

    names = [each.name for each in driven_names()]
    if harness is not None or command is not None:  # a program belongs to one agent
        names = [harness or names[0]]
    checks = [check for each in names for check in await _agent(each, command)]
    installed = {check.harness for check in checks if check.name == "release"}
    if installed:  # an agent that the user does not use is no failure
        checks = [
            replace(check, level="warn")
            if check.name == "program" and check.level == "fail" and harness is None
            else check
            for check in checks
        ]
    live = await asyncio.to_thread(lambda: list(stored(data_folder(os.environ))))
    checks += [await _git(), *live, *_plugins(), _python()]
    if as_json:
        for check in checks:
            click.echo(json.dumps(asdict(check), ensure_ascii=False))
    else:
        colour = standard_output().isatty() and not os.environ.get("NO_COLOR")
        for line in page(checks, colour=colour):
            click.echo(line)
    return 1 if any(check.level == "fail" for check in checks) else 0


async def _agent(harness: str, command: str | None) -> list[Diagnosis]:
    from dragoman.client.examining import examine

    found = await examine(command, harness=harness)
    checks = [*judged(found)]
    if found.sandbox_trials:
        checks.append(await _sandbox(found))
    return [replace(check, harness=found.harness, title=found.title) for check in checks]


def _plugins() -> Iterator[Diagnosis]:
    from dragoman.client.surveying import unusable_plugins

    for each in unusable_plugins():
        fix = "update or uninstall the package that provides it"
        yield Diagnosis(name="plug-in", level="warn", text=f"{each.name}: {each.problem}", fix=fix)


def page(checks: list[Diagnosis], *, colour: bool) -> list[str]:
    """The checks as lines for a terminal, with a heading for each agent if there are several."""
    from dragoman.cli.live.ink import Hue, Ink
    from dragoman.rendering import render

    ink = Ink(colour=colour)
    marks: dict[Level, tuple[str, Hue]] = {
        "ok": ("✓", "green"),
        "warn": ("!", "yellow"),
        "fail": ("✗", "red"),
    }
    wide = max(len(check.name) for check in checks)
    lines: list[str] = []
    heading: str | None = None
    has_headings = len({check.title for check in checks if check.title}) > 1
    for check in checks:
        if has_headings and check.title != heading:
            lines += [*[""] * bool(lines), ink(check.title or "This machine", "bold")]
            heading = check.title
        mark, hue = marks[check.level]
        name = ink(f"{check.name:<{wide}}", "bold")
        lines.append(f"{ink(mark, hue)} {name}  {render.flat(check.text)}")
        if check.fix:
            lines.append(f"  {' ' * wide}  {ink('→ ' + render.flat(check.fix), hue)}")
    broken = sum(check.level == "fail" for check in checks)
    last = f"{broken} broken" if broken else "everything works"
    return [*lines, "", ink(last, "red" if broken else "green")]


def judged(found: Examination) -> Iterator[Diagnosis]:
    """The checks that follow from an examination."""
    problems = found.problems
    if found.program is None:
        yield Diagnosis(
            name="program",
            level="fail",
            text=problems.get("program", "not found"),
            fix=f"{found.install or 'install the agent'}; or pass its program with --command PATH",
        )
        return
    yield Diagnosis(name="program", level="ok", text=f"{found.program} ({found.found})")
    if found.release is None:
        text = f"{problems.get('release', 'unknown')}; assuming the newest"
        yield Diagnosis(name="release", level="warn", text=text)
    else:
        yield Diagnosis(name="release", level="ok", text=found.release)
    if found.speaks:
        yield Diagnosis(name="speaks", level="ok", text="; ".join(found.speaks))
    yield from _ways(found)
    yield from _greeting(found)
    yield from _home(found.home)


def _ways(found: Examination) -> Iterator[Diagnosis]:
    newer = "install a newer release of the agent"
    server, one_shot = found.problems.get("server"), found.problems.get("one_shot")
    if not found.has_one_shots:
        if server:
            yield Diagnosis(name="sessions", level="fail", text=server, fix=newer)
        else:
            text = f"by {', '.join(found.transports)}, with approvals"
            yield Diagnosis(name="sessions", level="ok", text=text)
        return
    if server:
        level: Level = "fail" if one_shot else "warn"
        fix = newer if one_shot else f"`dragoman run --exec` works; for everything else, {newer}"
        yield Diagnosis(name="sessions", level=level, text=server, fix=fix)
    else:
        yield Diagnosis(name="sessions", level="ok", text="many in one process, with approvals")
    if one_shot:
        yield Diagnosis(name="one prompt", level="warn", text=one_shot, fix=newer)
    else:
        yield Diagnosis(name="one prompt", level="ok", text="one process per prompt (--exec)")


def _greeting(found: Examination) -> Iterator[Diagnosis]:
    if "greeting" in found.problems:
        yield Diagnosis(
            name="start",
            level="fail",
            text=found.problems["greeting"],
            fix=f"run `{found.program} --version` to see why",
        )
    facts = found.facts
    if facts is None:
        return
    if "server" not in found.problems:
        yield Diagnosis(name="start", level="ok", text="starts and answers")
    if facts.signed_in:
        account = facts.account
        known = [account.kind, account.name, account.plan] if account is not None else []
        who = ", ".join(str(each) for each in known if each)
        yield Diagnosis(name="account", level="ok", text=f"signed in{f': {who}' if who else ''}")
    elif facts.signed_in is None and not facts.needs_sign_in:
        text = "unknown; some models may need an account"
        yield Diagnosis(name="account", level="ok", text=text)
    elif not facts.needs_sign_in:
        yield Diagnosis(name="account", level="ok", text="the model needs no sign-in")
    else:
        key = f", or set {found.key_names[0]}" if found.key_names else ""
        command = found.capabilities.sign_in_command if found.capabilities else ""
        fix = f"run `{command or found.program}`{key}; `dragoman demo` works without"
        yield Diagnosis(name="account", level="fail", text="no one is signed in", fix=fix)


def _home(home: Path) -> Iterator[Diagnosis]:
    if not home.is_dir():
        yield Diagnosis(name="home", level="ok", text=f"{home} (created on first use)")
        return
    if not os.access(home, os.W_OK):
        fix = f"make {home} writable, or point {home.name.strip('.').upper()}_HOME elsewhere"
        yield Diagnosis(name="home", level="fail", text=f"{home} is not writable", fix=fix)
    else:
        yield Diagnosis(name="home", level="ok", text=str(home))
    config = home / "config.toml"
    try:
        tomllib.loads(config.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except (OSError, ValueError) as problem:
        yield Diagnosis(
            name="settings", level="fail", text=f"{config}: {problem}", fix="correct it"
        )
    else:
        yield Diagnosis(name="settings", level="ok", text=str(config))


async def _sandbox(found: Examination) -> Diagnosis:
    """Whether the sandbox works here: run a command that does nothing in it."""
    name = "sandbox"
    if found.program is None or sys.platform == "win32":
        return Diagnosis(name=name, level="warn", text="not checked on this system")
    for words in found.sandbox_trials:
        code, _ = await _ask(found.program, *words, "true")
        if code == 0:
            return Diagnosis(name=name, level="ok", text="the sandbox works")
    fix = "where it is safe, for example in a container, use --access full"
    return Diagnosis(name=name, level="warn", text="the sandbox does not work here", fix=fix)


async def _git() -> Diagnosis:
    git = shutil.which("git")
    if git is None:
        fix = "install git to review and undo changes"
        return Diagnosis(name="git", level="warn", text="not found", fix=fix)
    code, said = await _ask(git, "rev-parse", "--show-toplevel")
    if code != 0:
        fix = "run `git init` to review and undo changes here"
        return Diagnosis(
            name="git", level="warn", text=f"{os.getcwd()} is not a repository", fix=fix
        )
    return Diagnosis(name="git", level="ok", text=f"{said.strip()} is a repository")


def stored(folder: Path) -> Iterator[Diagnosis]:
    """Whether the live sessions of `dragoman serve` can be read, if there are any."""
    from dragoman.hub.stored_lines import problems_of_store

    problems = problems_of_store(folder)
    if problems is None:
        return
    where = str(folder / "live.db")
    if not problems:
        yield Diagnosis(name="live", level="ok", text=where)
        return
    more = f" … and {len(problems) - 1} more" if len(problems) > 1 else ""
    fix = "copy the folder to keep what is there; the agent's own session files are not affected"
    yield Diagnosis(name="live", level="fail", text=f"{where}: {problems[0]}{more}", fix=fix)


def _python() -> Diagnosis:
    release = ".".join(map(str, sys.version_info[:3]))
    return Diagnosis(name="dragoman", level="ok", text=f"{__version__} on Python {release}")


async def _ask(*words: str) -> tuple[int | None, str]:
    """The exit code and output of a program; the code is None if it does not run or end in time."""
    from dragoman.client.environment import agent_environ

    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=agent_environ(),
        )
    except OSError:
        return None, ""
    try:
        async with asyncio.timeout(_SECONDS):
            said, _ = await process.communicate()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        return None, ""
    return process.returncode, said.decode("utf-8", "replace")
