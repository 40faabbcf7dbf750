"""The variables of a process that hold secrets, by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_SECRET_NAME: Final = re.compile(
    r"(?i)(?:^|_)(?:key|apikey|token|secret|password|passwd|pwd|pass|passphrase|credentials?|pgpassword)(?:_|$)"
)


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of an environment whose names say that they are secret."""
    return tuple(value for name, value in environment.items() if _SECRET_NAME.search(name))
