"""A program that looks like ``codex`` and repeats a recording, with faults on demand.

For what the real program cannot be made to do: a torn line, silence, a crash, a flood. It is one file
that needs nothing but the standard library, so that it starts as quickly as the real one::

    python fake_codex.py --fake-recording run.jsonl --fake-faults '{"crash": 3}' app-server

The same can be given as DRAGOMAN_FAKE_RECORDING and DRAGOMAN_FAULTS. A recording has a line of
JSON for everything said; two-way ones are wrapped as ``{"dir": "send|recv", "msg": …}``.

Strategy of a two-way replay: go through the recording in order. What the program said is said again,
answers under the id that the client gave to its own request. Where the client said something, wait
until it has said that, known by its method, or by the id that it answers. A request for which the
recording has no answer is refused, so that no client waits for ever.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn, cast

_OPTIONS = {
    "--fake-recording": "DRAGOMAN_FAKE_RECORDING",
    "--fake-faults": "DRAGOMAN_FAULTS",
    "--fake-version": "DRAGOMAN_FAKE_VERSION",
}
_SENT = ("send", "sent", "out", ">>")
_CHUNK = 1 << 20


class Leaving(Exception):
    """The client has gone."""


class Mouth:
    """Says lines, with faults at the places that they were asked for.

    A place is the number of a line, counted from 1, or a piece of its text: then it is the first
    line that has it. Line 0 is before anything was said.
    """

    def __init__(self, faults: dict[str, Any], *, listens: bool) -> None:
        self._faults = faults
        self._listens = listens
        self._number = 0
        self._met: set[str] = set()
        self._after(b"")

    def say(self, line: bytes) -> None:
        """Say a line; it has no newline yet."""
        self._number += 1
        time.sleep(self._faults.get("delay", 0))
        if self._is_at("pad", line):
            size = self._faults.get("pad_bytes", 10_000_000)
            line = line.rstrip()[:-1] + b',"padding":"' + b"x" * size + b'"}'
        if self._is_at("torn", line):
            _write(line[: len(line) // 2])
            self._end()
        _write(line + b"\n")
        if self._is_at("repeat", line):
            self._repeat(line + b"\n", self._faults.get("times", 2) - 1)
        self._after(line)

    def _after(self, line: bytes) -> None:
        """The faults that come behind a line."""
        if self._is_at("stderr", line):
            chatter = self._faults.get("stderr_text", "WARN something looked odd, going on\n")
            sys.stderr.write(chatter * self._faults.get("stderr_times", 1))
            sys.stderr.flush()
        if self._is_at("garbage", line):
            text = self._faults.get("garbage_text", "thread 'main' panicked at src/main.rs {\n")
            _write(text.encode("utf-8", "surrogatepass"))
        if self._is_at("silence", line):
            self._be_silent()
        if self._is_at("crash", line):
            self._end()

    def _is_at(self, fault: str, line: bytes) -> bool:
        place = self._faults.get(fault)
        if place is None or fault in self._met:
            return False
        here = place == self._number if isinstance(place, int) else str(place).encode() in line
        if here:
            self._met.add(fault)
        return here

    def _repeat(self, line: bytes, times: int) -> None:
        batch = max(1, _CHUNK // len(line))
        while times > 0:
            _write(line * min(batch, times))
            times -= batch

    def _be_silent(self) -> NoReturn:
        """Neither speak nor leave, until the client does or kills us."""
        if not self._listens:
            cling()
        while os.read(0, _CHUNK):
            continue
        leave(self._faults)

    def _end(self) -> NoReturn:
        if "signal" in self._faults:
            os.kill(os.getpid(), self._faults["signal"])
            time.sleep(60)  # the signal is on its way
        os._exit(self._faults.get("exit_code", 101))


class InputReader:
    """What the client has said and the recording has not yet come to."""

    def __init__(self, expected: list[str]) -> None:
        self._expected = expected  # methods of requests that the recording still answers
        self._inbox: list[dict[str, Any]] = []
        self.ids: dict[str, Any] = {}
        """The client's own ids, by the ids of the same requests in the recording."""

    def wait_for(self, recorded: dict[str, Any]) -> None:
        """Wait until the client has said what it said in the recording."""
        method, key = recorded.get("method"), json.dumps(recorded.get("id"))
        if method is None:
            self._take(lambda said: "method" not in said and json.dumps(said.get("id")) == key)
        elif "id" in recorded:
            said = self._take(lambda said: said.get("method") == method and "id" in said)
            self.ids[key] = said["id"]
            if method in self._expected:
                self._expected.remove(method)
        # A client may do without a notification: nothing waits for it.

    def id_for(self, recorded: dict[str, Any]) -> Any:
        """The id under which the client waits for an answer."""
        key = json.dumps(recorded.get("id"))
        if key not in self.ids:  # the recording has only our side: answer requests as they come
            self.ids[key] = self._take(lambda said: "method" in said and "id" in said)["id"]
        return self.ids[key]

    def stay(self) -> NoReturn:
        """All is said: refuse what else the client wants, until it goes."""
        self._expected.clear()
        for said in self._inbox:
            self._refuse(said)
        while True:
            self._refuse(self._read())

    def _take(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            for at, said in enumerate(self._inbox):
                if fits(said):
                    return self._inbox.pop(at)
            said = self._read()
            if said.get("method") in self._expected or "method" not in said or fits(said):
                self._inbox.append(said)
            else:
                self._refuse(said)

    def _refuse(self, said: dict[str, Any]) -> None:
        if "method" in said and "id" in said:
            problem = f"the recording has no answer to {said['method']}"
            error = {"id": said["id"], "error": {"code": -32600, "message": problem}}
            _write(_line(error) + b"\n")

    def _read(self) -> dict[str, Any]:
        while True:
            line = sys.stdin.buffer.readline()
            if not line:
                raise Leaving
            try:
                said = json.loads(line)
            except ValueError:
                continue  # the real one passes over such lines, too
            if isinstance(said, dict):
                return cast("dict[str, Any]", said)


def replay_one_way(lines: list[bytes], mouth: Mouth) -> int:
    """Print the lines of a run that takes no input; its exit code."""
    for line in lines:
        message = unwrap(line)
        if message is None:
            mouth.say(line)
        elif not message[0]:
            mouth.say(_line(message[1]))
    return 1 if lines and b'"turn.failed"' in lines[-1] else 0


def replay_two_way(lines: list[bytes], mouth: Mouth) -> NoReturn:
    """Go through a conversation with a client."""
    both = [unwrap(line) or (False, json.loads(line)) for line in lines]
    asked = [said["method"] for sent, said in both if sent and "id" in said and "method" in said]
    if not any(sent for sent, _ in both):
        asked = ["initialize", "thread/start", "turn/start"]  # a guess, to keep requests in order
    ears = InputReader(asked)
    for sent, said in both:
        if sent:
            ears.wait_for(said)
        elif "id" in said and "method" not in said:
            mouth.say(_line({**said, "id": ears.id_for(said)}))
        else:
            mouth.say(_line(said))
    ears.stay()


def unwrap(line: bytes) -> tuple[bool, dict[str, Any]] | None:
    """Whether the client sent it, and the message; None for a line that is not wrapped."""
    if not line.startswith((b'{"dir"', b'{ "dir"')):
        return None
    row = json.loads(line)
    return row["dir"] in _SENT, row["msg"] if "msg" in row else row["raw"]


def version_of(recording: str, lines: list[bytes]) -> str:
    """The release that made a recording, as far as it or its name says."""
    for line in lines[:5]:
        found = re.search(rb'(?:"userAgent": ?"[^/"]*/|"cli_version": ?")(\d+\.\d+\.\d+)', line)
        if found:
            return found[1].decode()
    named = re.findall(r"\d+\.\d+(?:\.\d+)?", recording)
    return str(named[-1]) if named else "0.0.0"


def leave(faults: dict[str, Any]) -> NoReturn:
    """The client is gone: go as well, unless the script says to cling on."""
    if faults.get("ignore_eof"):
        cling()
    os._exit(0)


def cling() -> NoReturn:
    """Stay until we are killed, or our parent is gone."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(0)


def _line(message: Any) -> bytes:
    if isinstance(message, str):
        return message.encode("utf-8", "surrogateescape")
    text = json.dumps(message, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def _write(data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(1, view) :]
    except BrokenPipeError:
        os._exit(1)


def main(words: list[str]) -> int:
    """Run as the program would with these arguments."""
    settings = {name: os.environ.get(name, "") for name in _OPTIONS.values()}
    mine: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in _OPTIONS:
            settings[_OPTIONS[word]] = next(rest, "")
        else:
            mine.append(word)
    recording = settings["DRAGOMAN_FAKE_RECORDING"]
    if not recording:
        sys.stderr.write("the fake needs a recording: --fake-recording FILE\n")
        return 2
    with open(recording, "rb") as file:
        lines = [line for line in file.read().split(b"\n") if line.strip()]
    if "--version" in mine or "-V" in mine:
        version = settings["DRAGOMAN_FAKE_VERSION"] or version_of(recording, lines)
        _write(f"codex-cli {version}\n".encode())
        return 0
    given: dict[str, Any] = json.loads(settings["DRAGOMAN_FAULTS"] or "{}")
    faults = {name: value for name, value in given.items() if value is not None}
    if faults.get("ignore_term"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    listens = any(word in ("app-server", "proto", "mcp-server", "mcp") for word in mine)
    mouth = Mouth(faults, listens=listens)
    if listens:
        try:
            replay_two_way(lines, mouth)
        except Leaving:
            leave(faults)
    code = replay_one_way(lines, mouth)
    if faults.get("ignore_eof"):
        leave(faults)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
