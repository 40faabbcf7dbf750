"""A home of Qwen Code with the recorded chats."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

RUNS = Path(__file__).parents[1] / "data" / "qwen" / "0.24.4"
WORK = "0ea135a5-108c-48ef-9abb-0ee8ece70607"
WORK_AGENT = "general-purpose-call_0_6_a325ee890e00016"
PARENT = "cf1689fc-d840-441f-9a07-ba7302d3eacd"
FORK = "64b3dd18-4ae4-4fc5-891d-e4519667eed7"


def recorded_home(folder: Path) -> list[Path]:
    """Put the chats of all recorded runs where Qwen Code keeps them."""
    for path in sorted(RUNS.glob("*.disk*.jsonl")):
        row: dict[str, Any] = json.loads(path.read_bytes().split(b"\n", 1)[0])
        place = f"chats/{row['sessionId']}.jsonl"
        if row.get("isSidechain"):
            place = f"subagents/{row['sessionId']}/agent-{row['agentId']}.jsonl"
        target = folder / "projects" / "-workspace" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return sorted(folder.rglob("*.jsonl"))
