"""Rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from dragoman.harnesses import HARNESSES

_ROOT = Path(__file__).parents[1]
_SOURCE = _ROOT / "src" / "dragoman"
_MODULES = sorted(path for path in _SOURCE.rglob("*.py"))


def _name(path: Path) -> str:
    return path.relative_to(_SOURCE).as_posix()


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def forget_what_was_parsed() -> Iterator[None]:
    """Trees of all modules take hundreds of megabytes."""
    yield
    _parsed.cache_clear()


def test_a_module_says_what_it_is_for() -> None:
    assert [_name(path) for path in _MODULES if not ast.get_docstring(_parsed(path))] == []


def test_no_module_is_over_the_limit() -> None:
    """Most have 50 to 300 lines; a module between 300 and 500 was reviewed and left whole. Tables of data do not count."""
    tests = (_ROOT / "tests").rglob("*.py")
    modules = [*_MODULES, *(each for each in tests if each.parent.name != "secret_corpora")]
    assert [each for each in modules if each.read_text("utf-8").count("\n") > 500] == []


def test_a_module_has_a_test_of_its_name_or_of_its_package() -> None:
    modules = [path for path in _MODULES if path.name != "__init__.py"]
    assert [_name(path) for path in modules if not _has_a_test(path)] == []


def _has_a_test(path: Path) -> bool:
    """``rollout/shapes.py`` is tested by ``rollout/test_shapes.py``, or by ``test_rollout.py`` there or one up.

    A harness has its conformance suite, which reads, audits, plays and drives.
    """
    folder = _ROOT / "tests" / path.relative_to(_SOURCE).parent
    words = path.stem.split("_")
    names = ["_".join(words[:length]) for length in range(len(words), 0, -1)]
    names += [f"{name}s" for name in names]
    names += ["_".join(words[start:]) for start in range(1, len(words))]
    names += [folder.name, "conformance"]
    places = [place / f"test_{name}.py" for place in (folder, folder.parent) for name in names]
    return any(map(Path.exists, places))


def test_no_package_is_crowded() -> None:
    for folder in {path.parent for path in _MODULES}:
        assert len(list(folder.glob("*.py"))) <= 21, folder  # 20 modules and ``__init__``


_NAMED_BY_A_WIRE = (
    "harnesses/**/shapes.py",
    "harnesses/**/*_shapes.py",
    "harnesses/codex/exec/parser.py",
    "rehearsal/script.py",  # the steps that a script names
)


def test_each_class_name_is_defined_once() -> None:
    """But for the shapes of a wire and the steps of a script, which have the names used there."""
    named_there = {path for pattern in _NAMED_BY_A_WIRE for path in _SOURCE.glob(pattern)}
    places: dict[str, list[str]] = {}
    for path in _MODULES:
        if path not in named_there:
            for node in _parsed(path).body:
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(_name(path))
    assert not {name: paths for name, paths in places.items() if len(paths) > 1}


def test_no_error_is_swallowed_in_silence() -> None:
    assert [place for path in _MODULES for place in _swallowed(path)] == []


def _swallowed(path: Path) -> Iterator[str]:
    for node in ast.walk(_parsed(path)):
        if isinstance(node, ast.ExceptHandler):
            names = ast.unparse(node.type) if node.type else ""
            is_broad = names in ("", "Exception", "BaseException")
            if (is_broad and not _passes_it_on(node)) or isinstance(node.body[0], ast.Pass):
                yield f"{_name(path)}:{node.lineno}"


def _passes_it_on(handler: ast.ExceptHandler) -> bool:
    """Whether it raises the error again, or hands it to what waits for it."""
    for node in ast.walk(handler):
        if isinstance(node, ast.Raise) and node.exc is None:
            return True
        if isinstance(node, ast.Attribute) and node.attr == "set_exception":
            return True
    return False


def test_only_its_own_folder_and_the_registry_name_a_harness() -> None:
    """But for the rehearsal, which is there to make that one program run, and the table of agents that speak ACP."""
    named = re.compile(r"\bcodex\b", re.IGNORECASE)
    for path in _MODULES:
        place = path.relative_to(_SOURCE)
        if place.parts[0] == "rehearsal" or place == Path("harnesses/acp/quirks.py"):
            continue
        if place.parts[:2] == ("harnesses", "codex") or place == Path("harnesses/__init__.py"):
            continue
        tree = _parsed(path)
        docstrings = _docstrings(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if id(node) in docstrings:
                    continue
                assert not named.search(node.value), f"{path}:{node.lineno}"
            elif isinstance(node, ast.ImportFrom):
                assert "harnesses.codex" not in (node.module or ""), f"{path}:{node.lineno}"


_NAMES_A_FORMAT = ("export/__init__.py", "web/page/rows.py", "web/page/session_view.py")
_NAMES_OF_OTHERS = ("model/secrets/naming.py", "store/session_rows.py")
"""Prefixes of variables with secrets; the rows of the one harness that keeps its sessions in a database."""


def test_no_package_above_the_harnesses_names_one() -> None:
    """Choices, paths and programs come from the registry. ``claude`` is also the name of a format, and ACP a protocol."""
    named = re.compile(
        rf"\b({'|'.join(each.name for each in HARNESSES if each.transports and each.name != 'acp')})\b",
        re.I,
    )
    found: list[str] = []
    for path in _MODULES:
        if _name(path).startswith(
            ("harnesses/", "rehearsal/", *_NAMES_A_FORMAT, *_NAMES_OF_OTHERS)
        ):
            continue
        docstrings = _docstrings(_parsed(path))
        found += [
            f"{_name(path)}:{node.lineno}: {node.value}"
            for node in ast.walk(_parsed(path))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            if id(node) not in docstrings and named.search(node.value)
        ]
    assert found == []


def _docstrings(tree: ast.Module) -> set[int]:
    """The constants that are statements of their own: docstrings, and those below an attribute."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def test_nothing_in_the_repository_points_at_a_machine_or_a_registry() -> None:
    forbidden = re.compile(
        r"/tmp/lab|/work/(main|shared)|pypi\.org|registry\.npmjs|files\.pythonhosted"
    )
    pages = [
        *_ROOT.glob("*.md"),
        *_ROOT.glob("docs/**/*.md"),
        *_ROOT.glob("*.toml"),
        _ROOT / "Makefile",
    ]
    for path in [*pages, *_MODULES, *_ROOT.glob("examples/*.py"), *_ROOT.glob("benchmarks/*.py")]:
        assert not forbidden.search(path.read_text(encoding="utf-8")), path
