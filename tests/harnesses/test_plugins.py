from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from importlib import invalidate_caches
from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import replace

from dragoman import harnesses
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.plugins import GROUP, Plugins

_PLAIN = Harness(name="plain", title="Plain", dialects=(), sniff=lambda lines: None)


def _fail(lines: Sequence[bytes] | bytes) -> None:
    raise ValueError("no such line")


Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Install]:
    """Installs harnesses as plug-ins, under their names."""
    module = ModuleType("dragoman_plugins_of_a_test")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    def install(**values: object) -> None:
        info = tmp_path / "dragoman_plugins_of_a_test-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: x\nVersion: 1.0\n")
        points = [f"{name} = {module.__name__}:{name}" for name in values]
        (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *points]))
        for name, value in values.items():
            setattr(module, name, value)
        invalidate_caches()
        harnesses.reload_plugins()

    yield install
    monkeypatch.undo()
    invalidate_caches()
    harnesses.reload_plugins()


def test_a_plug_in_is_loaded_once_and_a_taken_name_is_refused(install: Install) -> None:
    install(plain=_PLAIN, codex=replace(_PLAIN, name="codex"), words="no harness")
    plugins = Plugins({"codex"})

    assert plugins.harnesses() == (_PLAIN,)
    assert plugins.harnesses() is plugins.harnesses()
    assert [(each.name, each.problem) for each in plugins.broken()] == [
        ("codex", "there is already a harness 'codex'"),
        ("words", "it is no Harness: str"),
    ]


@pytest.mark.parametrize(
    ("broken", "ask"),
    [
        (replace(_PLAIN, sniff=_fail), lambda: harnesses.sniff_dialect([b"words"])),
        (replace(_PLAIN, settle=_fail), lambda: harnesses.settle_dialect([b"words"])),
        (replace(_PLAIN, plain=_fail), lambda: harnesses.fast_usage_reader(b"words")),
    ],
    ids=["sniff", "settle", "plain"],
)
def test_a_plug_in_that_raises_is_left_out_logged_and_listed(
    install: Install,
    caplog: pytest.LogCaptureFixture,
    broken: Harness,
    ask: Callable[[], object],
) -> None:
    install(plain=broken, sound=replace(_PLAIN, name="sound"))
    caplog.set_level("INFO", "dragoman")

    assert ask() is None
    assert ask() is None
    assert [each.name for each in harnesses.all_harnesses()][-1] == "sound"
    assert [(each.name, each.problem) for each in harnesses.broken_plugins()] == [
        ("plain", "ValueError: no such line")
    ]
    assert [record.message for record in caplog.records] == ["plug-in plain is left out"]
    assert "ValueError: no such line" in caplog.text


def test_the_plug_ins_after_a_broken_one_are_still_asked(install: Install) -> None:
    def sniff(lines: Sequence[bytes]) -> str:
        return "sound-lines"

    found = replace(_PLAIN, name="sound", sniff=sniff)
    install(plain=replace(_PLAIN, sniff=_fail), sound=found)

    assert harnesses.sniff_dialect([b"words"]) == "sound-lines"


def test_the_end_of_the_program_is_not_taken_for_a_broken_plug_in(install: Install) -> None:
    def leave(lines: Sequence[bytes]) -> None:
        raise KeyboardInterrupt

    install(plain=replace(_PLAIN, sniff=leave))
    with pytest.raises(KeyboardInterrupt):
        harnesses.sniff_dialect([b"words"])
    assert harnesses.broken_plugins() == ()
