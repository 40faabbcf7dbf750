"""Random values of the shapes that secrets have, the same ones for the same seed."""

from __future__ import annotations

import base64
import random
import string
import uuid

ALNUM = string.ascii_letters + string.digits
WORDS = (
    "copper",
    "lantern",
    "meadow",
    "thunder",
    "velvet",
    "orchard",
    "pebble",
    "saffron",
    "walrus",
    "glacier",
    "bramble",
    "quartz",
    "tulip",
)


class Values:
    """Fills in ``{hex32}``, ``{alnum20}``, ``{word}`` and the like."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def pick(self, alphabet: str, length: int) -> str:
        return "".join(self._random.choice(alphabet) for _ in range(length))

    def make(self, shape: str) -> str:
        kind = shape.rstrip(string.digits)
        size = int(shape[len(kind) :] or 0)
        match kind:
            case "hex":
                return self.pick("0123456789abcdef", size)
            case "HEX":
                return self.pick("0123456789ABCDEF", size)
            case "alnum":
                return self._mixed(ALNUM, size)
            case "upper":
                return self._mixed(string.ascii_uppercase + string.digits, size)
            case "lower":
                return self._mixed(string.ascii_lowercase + string.digits, size)
            case "url":
                return self._mixed(ALNUM + "_-", size - 1) + self.pick(ALNUM, 1)
            case "base":
                return base64.b64encode(self._random.randbytes(size)).decode()
            case "digits":
                return self.pick("123456789", size)
            case "letters":
                return self.pick(string.ascii_lowercase, size or 10)
            case "word":
                return self._random.choice(WORDS) + self._random.choice(WORDS)
            case "phrase":
                return " ".join(self._random.sample(WORDS, 4))
            case "pw":
                return self._mixed(ALNUM, 9)
            case "sign":
                signs = "".join(self._random.sample("!$#%^*+?~@", 3))
                return f"{self.pick(ALNUM, 5)}{signs[0]}{self.pick(ALNUM, 4)}{signs[1:]}"
            case "login":
                return base64.b64encode(
                    f"{self.make('letters6')}:{self.make('pw')}".encode()
                ).decode()
            case "uuid":
                return str(uuid.UUID(bytes=self._random.randbytes(16), version=4))
            case "jwt":
                head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
                body = base64.urlsafe_b64encode(
                    b'{"sub":"%d"}' % self._random.randrange(10**9)
                ).decode()
                return f"{head}.{body.rstrip('=')}.{self.make('url43')}"
            case _:
                raise ValueError(shape)

    def _mixed(self, alphabet: str, size: int) -> str:
        """Random, with a digit and a letter in it, as a generator of keys would nearly always give."""
        while True:
            made = self.pick(alphabet, size)
            if any(c.isdigit() for c in made) and any(c.isalpha() for c in made):
                return made
