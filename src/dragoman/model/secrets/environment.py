"""Find the environment variables that contain secrets, by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_SECRET_NAME: Final = re.compile(
    r"(?i)(?:^|_)(?:key|apikey|token|secret|password|passwd|pwd|pass|passphrase|credentials?|pgpassword)(?:_|$)"
)


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the variables whose names sound secret."""
    return tuple(value for name, value in environment.items() if _SECRET_NAME.search(name))
