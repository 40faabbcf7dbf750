"""The wheel and the sdist: installed into empty environments, with each extra, and tried.

Nothing is downloaded. pip installs the wheel itself; what the wheel's own metadata requires is linked from
this environment, so a requirement that is missing there is missing in the new environment, too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_ROOT = Path(__file__).parents[1]
_RECORDING = _ROOT / "examples" / "recordings" / "fix-the-test.exec.jsonl"
_HEAVY = {
    "pydantic",
    "pydantic-core",
    "anyio",
    "httpx",
    "httpcore",
    "requests",
    "urllib3",
    "aiohttp",
}
_EXTRAS = {
    "": "import dragoman.cli.main, dragoman.client, dragoman.archive",
    "codex": "import codex_cli_bin",
    "claude": "import claude_agent_sdk",
    "ws": "import websockets, dragoman.drive.links.sockets",
    "prices": "import genai_prices, dragoman.archive.ledger.prices",
    "web": "import uvicorn, dragoman.web.app",
}

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links files")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A wheel and an sdist of this tree."""
    target = tmp_path_factory.mktemp("dist")
    _run([sys.executable, "-m", "hatchling", "build", "-d", str(target)], cwd=_ROOT)
    (wheel,) = target.glob("*.whl")
    (sdist,) = target.glob("*.tar.gz")
    return wheel, sdist


def test_the_base_install_is_lean(built: tuple[Path, Path]) -> None:
    names = {name for name, _ in _required(built[0], "")}

    assert not names & _HEAVY
    assert len(names) < 10


@pytest.mark.parametrize("extra", list(_EXTRAS))
def test_the_wheel_works_in_an_empty_environment(
    extra: str, built: tuple[Path, Path], tmp_path: Path
) -> None:
    python = _installed(built[0], extra, tmp_path / "env")
    dragoman = str(python.parent / "dragoman")
    home = {"HOME": str(tmp_path), "PATH": os.defpath}

    assert _run([dragoman, "--version"], env=home).startswith("dragoman")
    assert "convert" in _run([dragoman, "--help"], env=home)
    messages = _run([dragoman, "convert", str(_RECORDING), "--to", "messages"], env=home)
    assert '"turn_ended"' in messages
    _run([str(python), "-I", "-c", _EXTRAS[extra]], env=home)
    code = "import dragoman, json, sys; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    loaded = set(json.loads(_run([str(python), "-I", "-c", code], env=home)))
    assert not loaded & {"pydantic", "anyio", "httpx", "litestar", "uvicorn"}


def test_a_missing_extra_is_named(built: tuple[Path, Path], tmp_path: Path) -> None:
    python = _installed(built[0], "", tmp_path / "env")

    done = subprocess.run(
        [str(python.parent / "dragoman"), "serve"],
        capture_output=True,
        text=True,
        env={"HOME": str(tmp_path), "PATH": os.defpath},
        timeout=60,
        check=False,
    )

    assert done.returncode == 2
    assert "pip install 'dragoman[web]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_wheel_has_the_data_files(built: tuple[Path, Path]) -> None:
    inside = set(zipfile.ZipFile(built[0]).namelist())
    source = _ROOT / "src"
    wanted = {
        path.relative_to(source).as_posix()
        for path in (source / "dragoman").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }

    assert wanted - inside == set()


def test_the_sdist_has_what_make_test_needs(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[1]) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}

    for needed in ("Makefile", "pyproject.toml", "LICENSE", "README.md", ".ci/run"):
        assert needed in inside
    for folder in ("src", "tests", "docs", "examples", "scripts"):
        ours = {
            path.relative_to(_ROOT).as_posix()
            for path in (_ROOT / folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert ours - inside == set(), folder


def _installed(wheel: Path, extra: str, target: Path) -> Path:
    """The Python of a new environment with the wheel and all that it requires."""
    venv.create(target, with_pip=False, symlinks=True)
    python = target / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    _run([*pip, "--no-deps", "--no-index", "--no-compile", str(wheel)])
    (packages,) = target.glob("lib/python*/site-packages")
    for name, _ in _required(wheel, extra):
        _link(name, packages)
    return python


def _required(wheel: Path, extra: str) -> Iterator[tuple[str, str]]:
    """The names and versions of all that the wheel requires with an extra, in this environment."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(name).decode())
    pending = [
        (Requirement(line), {extra} if extra else {""})
        for line in metadata.get_all("Requires-Dist") or ()
    ]
    seen: set[str] = set()
    while pending:
        requirement, extras = pending.pop()
        marker = requirement.marker
        if marker is not None and not any(marker.evaluate({"extra": each}) for each in extras):
            continue
        name = canonicalize_name(requirement.name)
        if name in seen:
            continue
        seen.add(name)
        try:
            found = distribution(requirement.name)
        except PackageNotFoundError:
            pytest.fail(f"{requirement} is required, but not installed here")
        assert requirement.specifier.contains(found.version, prereleases=True), requirement
        yield name, found.version
        wanted = requirement.extras or {""}
        pending += [(Requirement(line), set(wanted)) for line in found.requires or ()]


def _link(name: str, packages: Path) -> None:
    """Make the files of a distribution of this environment importable in another one."""
    found = distribution(name)
    for file in found.files or ():
        if file.parts[0] == ".." or "__pycache__" in file.parts:
            continue
        source = Path(str(found.locate_file(file)))
        target = packages / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            target.symlink_to(source)


def _run(command: list[str], *, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout
