"""Shared by the other examples: a repository with a failing test, and a stand-in model.

Run on its own, it prints the name of the repository.
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
    """Yield a repository, and the environment that points the agent at the stand-in model."""
    with tempfile.TemporaryDirectory() as folder, Rehearsal(script) as stage:
        repo = Path(folder, "greeter")
        shutil.copytree(_HERE / "fix-the-test", repo)
        subprocess.run(["git", "init", "-q", str(repo)], check=True, timeout=30)
        yield str(repo), {**stage.env, "HOME": str(stage.codex_home)}


if __name__ == "__main__":
    with workspace() as (repo, _):
        sys.stdout.write(f"works in {Path(repo).name}\n")
