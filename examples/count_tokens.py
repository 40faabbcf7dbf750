"""Print the tokens of each session. Rows without usage are skipped without being decoded.

python examples/count_tokens.py [FILE ...]
"""

import sys
from pathlib import Path

import dragoman

DEMO = Path(__file__).parent / "recordings"

for name in sys.argv[1:] or sorted(map(str, DEMO.glob("*.jsonl"))):
    total = None
    for report in dragoman.read(name, only={"usage"}):
        assert isinstance(report, dragoman.UsageReport)
        total = report.total
    spent = f"{total.input_tokens:,} in, {total.output_tokens:,} out" if total else "unknown"
    print(f"{Path(name).name}: {spent}")
