from __future__ import annotations

import inspect
import subprocess
import sys
from types import ModuleType

import pytest

from dragoman.drive.process import windows
from dragoman.drive.process.reaping import Known


def surface(module: ModuleType) -> dict[str, inspect.Signature]:
    return {
        name: inspect.signature(function)
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }


@pytest.mark.skipif(sys.platform == "win32", reason="the other one cannot be imported")
def test_both_systems_have_the_same_names() -> None:
    from dragoman.drive.process import posix

    assert surface(windows) == surface(posix)


def test_a_process_is_ended_by_itself() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    known = windows.identify(process.pid, "mine")

    windows.terminate_group(known)
    assert process.wait(timeout=5) != 0
    windows.kill_group(known._replace(pid=1 << 30))


def test_nobody_is_known_to_be_left() -> None:
    windows.enlarge(None)
    windows.terminate_left(Known("mine"))
    windows.kill_left(Known("mine"))

    assert not windows.is_anybody_left(Known("mine"))
    assert windows.command_line(["a", "b"]) == ("a", "b")
    assert windows.start_options() == {"creationflags": 0x200}
    assert windows.describe(3) == "exited with status 3"
