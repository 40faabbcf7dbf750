"""A process that starts another one and is killed: whether the other one is gone, too."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Sequence
from typing import Final

import pytest

needs_linux: Final = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
_SECONDS: Final = 20.0


def is_gone_with(command: Sequence[str]) -> bool:
    """``command`` prints the number of the process that it has started, and waits."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        watched = os.pidfd_open(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
        parent.wait(_SECONDS)
        ended, _, _ = select.select([watched], [], [], _SECONDS)
        os.close(watched)
    return bool(ended)
