"""What the other examples stand on: a repository with a failing test, and a stand-in model.

Run alone, it only says where it would work.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from dragoman.rehearsal import Rehearsal

_HERE = Path(__file__).parent / "rehearsals"


@contextmanager
def workspace(
    script: str | Path = _HERE / "fix-the-test.yaml",
) -> Generator[tuple[str, dict[str, str]]]:
    """A repository to work in, and the environment that leads the agent to the stand-in model."""
    with tempfile.TemporaryDirectory() as folder, Rehearsal(script) as stage:
        repo = Path(folder, "greeter")
        shutil.copytree(_HERE / "fix-the-test", repo)
        subprocess.run(["git", "init", "-q", str(repo)], check=True, timeout=30)
        yield str(repo), {**stage.env, "HOME": str(stage.codex_home)}


if __name__ == "__main__":
    with workspace() as (repo, _):
        sys.stdout.write(f"works in {Path(repo).name}\n")
