import subprocess
import sys
import time

import pytest

from dragoman.drive.process.descendants import find_command, name_processes
from dragoman.drive.timeouts import Pulse, RunningTool

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
_SECONDS = 60


@pytest.fixture
def agent() -> subprocess.Popen[bytes]:
    """A process that runs two commands: in a shell that stays, and in one that becomes the command."""
    started = ["/bin/sh", "-c", "sleep 61.5; true"], ["/bin/sh", "-c", "true; exec sleep 62.5"]
    code = f"import subprocess as s; p = [s.Popen(a) for a in {started!r}]; p[0].wait()"
    return subprocess.Popen([sys.executable, "-c", code], start_new_session=True)


def test_a_command_is_found_by_its_words(agent: subprocess.Popen[bytes]) -> None:
    try:
        until = time.monotonic() + _SECONDS
        while len(find_command(agent.pid, "sleep 61.5; true")) < 2:
            assert time.monotonic() < until
            time.sleep(0.02)
        while not find_command(agent.pid, "true; exec sleep 62.5"):
            assert time.monotonic() < until
            time.sleep(0.02)
        assert find_command(agent.pid, "make all") == ()

        pulse = Pulse(began_at=0, heard_at=0)
        pulse.tools = [RunningTool("Bash", "sleep 61.5; true"), RunningTool("Read", "sleep")]
        name_processes(pulse, agent.pid)
        assert [len(tool.pids) for tool in pulse.tools] == [2, 0]
        name_processes(pulse, None)
    finally:
        for pid in (*find_command(agent.pid, "sleep 61.5"), *find_command(agent.pid, "sleep 62.5")):
            subprocess.run(["kill", "-9", str(pid)], check=False, stderr=subprocess.DEVNULL)
        agent.kill()
        agent.wait(_SECONDS)
