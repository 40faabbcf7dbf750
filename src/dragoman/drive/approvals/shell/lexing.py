"""Split a command line as a shell would, and mark the text that is unknown.

:func:`lex` finds every simple command, including those in substitutions, subshells and here-documents. A word
contains :data:`~dragoman.drive.approvals.path_globs.ANY` in place of a variable, a substitution or a glob, and
:data:`MANY` stands for any number of unknown words. Lexing never fails: input that is nested too deep or never
closed becomes an unknown command. This reading serves deny rules. Allow rules use
:func:`~dragoman.drive.approvals.shell.words.plain_commands`, which gives up instead of guessing.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, TypeAlias

from dragoman.drive.approvals.path_globs import ANY, HERE
from dragoman.drive.approvals.shell.expanding import Marked, brace_expanded, unescaped

Words: TypeAlias = tuple[str, ...]
MANY: Final = "\ue001"
"""A word that stands for any number of unknown words."""
UNKNOWN: Final[Words] = (ANY, MANY)
"""A command about which nothing is known."""

_DEEPEST: Final = 8
_LONGEST: Final = 100_000
"""A longer line counts as unknown."""
_NAME: Final = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
_REDIRECTION: Final = re.compile(r"&>>?|<<<|<<-?|<>|>>|>\||[<>]&?")
_OPERATOR: Final = re.compile(r"&&|\|\||;;&?|;&|\|&|[;&|()\n]")
_DEFAULT: Final = re.compile(r"(\w+):?[-=+](.*)", re.DOTALL)
_HOME: Final = "~"


class Simple(NamedTuple):
    """A simple command with its assignments, redirections and input."""

    words: Words
    assignments: tuple[tuple[str, str], ...] = ()
    targets: tuple[str, ...] = ()
    """The files of its redirections."""
    stdin: tuple[str, ...] = ()
    """Here-documents and here-strings."""
    piped_from: Words | None = None
    """The command before a ``|``."""


def lex(line: str) -> list[Simple]:
    """Every simple command of a line. A variable counts both as its value in the line and as unknown."""
    if len(line) > _LONGEST:
        return [Simple(UNKNOWN)]
    found = _Lexer(line, {}, _DEEPEST, values=True).run()
    if "$" in line:
        found += _Lexer(line, {}, _DEEPEST, values=False).run()
    return list(dict.fromkeys(found))


class _Lexer:
    def __init__(
        self, text: str, known: dict[str, str], depth: int, *, values: bool, at: int = 0
    ) -> None:
        self.text = text
        self.at = at
        self.found: list[Simple] = []
        self._known = known
        self._depth = depth
        self._values = values
        self._parens = 0
        self._heredocs: list[tuple[str, bool, list[str]]] = []
        self._previous: Words | None = None
        self._begin(None)

    def run(self, until: str | None = None) -> list[Simple]:
        """Read to the end, or to the parenthesis that closes the substitution."""
        if self._depth <= 0:
            self.found.append(Simple(UNKNOWN))
            self.at = len(self.text)
        while self.at < len(self.text):
            if until == ")" and self.text[self.at] == ")" and self._parens == 0:
                break
            self._step()
        self._end_word()
        self._end_command(None)
        return self.found

    # One step: an operator, a redirection, or a piece of a word.

    def _step(self) -> None:
        text, at = self.text, self.at
        char = text[at]
        if char in " \t\r\f\v":
            self._end_word()
            self.at += 1
        elif char == "#" and self._word is None:
            end = text.find("\n", at)
            self.at = len(text) if end < 0 else end
        elif found := _REDIRECTION.match(text, at):
            self._redirect(found[0])
        elif found := _OPERATOR.match(text, at):
            self._end_word()
            self._operator(found[0])
        else:
            self._piece(quoted=False)

    def _operator(self, sign: str) -> None:
        self.at += len(sign)
        self._parens = max(0, self._parens + (sign == "(") - (sign == ")"))
        self._end_command("|" if sign in ("|", "|&") else None)
        if sign == "\n":
            for end, expands, texts in self._heredocs:
                texts.append(self._here_document(end, expands))
            self._heredocs = []

    def _piece(self, *, quoted: bool) -> None:
        """Read the next character of a word, or an expansion."""
        word = self._open_word()
        char = self.text[self.at]
        if char == "\\":
            follows = self.text[self.at + 1 : self.at + 2]
            if follows != "\n":
                keeps = quoted and follows not in ("$", "`", '"', "\\")
                word += [("\\", True)] * keeps + [(each, True) for each in follows]
            self.at += 2
        elif char == "'" and not quoted:
            end = self._find("'", self.at + 1)
            word += [(each, True) for each in self.text[self.at + 1 : end]]
            self.at = end + 1
        elif char == '"' and not quoted:
            self.at += 1
            while self.at < len(self.text) and self.text[self.at] != '"':
                self._piece(quoted=True)
            self.at += 1
        elif char == "$":
            self._dollar(quoted)
        elif char == "`":
            self._backticks(quoted)
        else:
            glob = not quoted and char in "*?["
            word.append((ANY, False) if glob else (char, quoted))
            if glob and len(word) == 1:
                word.append((HERE, False))
            self.at += 1

    # Expansions.

    def _dollar(self, quoted: bool) -> None:
        text, at = self.text, self.at
        follows = text[at + 1 : at + 2]
        if follows == "'" and not quoted:
            end = at + 2
            while end < len(text) and text[end] != "'":
                end += 2 if text[end] == "\\" else 1
            self._open_word().extend((each, True) for each in unescaped(text[at + 2 : end]))
            self.at = end + 1
        elif follows == '"' and not quoted:
            self.at += 1
        elif follows == "(":
            self._substitute(at + 2, quoted)
        elif follows == "{":
            end = self._closing_brace(at + 2)
            inside = text[at + 2 : end]
            self._nested(inside)
            self._variable(inside, quoted)
            self.at = end + 1
        elif name := _NAME.match(text, at + 1):
            self._variable(name[0], quoted)
            self.at = name.end()
        else:
            self._open_word().append(("$", True))
            self.at += 1

    def _variable(self, inside: str, quoted: bool) -> None:
        if re.match(r"!?IFS\b", inside) and not quoted:
            self._end_word()
            return
        value = self._value(inside)
        word = self._open_word()
        if value is None:
            word.append((ANY, False))
            # "$@" is several words even in quotes.
            self._unsplit = self._unsplit and quoted and not re.search(r"^[@*]|\[[@*]\]", inside)
        elif quoted:
            word += [(each, True) for each in value]
        else:
            self._unsplit = self._unsplit and ANY not in value
            first, *more = re.split(r"\s+", value)
            word += [(each, True) for each in first]
            for part in more:
                self._end_word()
                self._open_word().extend((each, True) for each in part)

    def _value(self, inside: str) -> str | None:
        if not self._values:
            return None
        if inside in ("HOME", "PWD"):
            return self._known.get(inside, _HOME if inside == "HOME" else ".")
        if inside in self._known:
            return self._known[inside]
        default = _DEFAULT.fullmatch(inside)
        if default is None or re.search(r"[$`\\'\"]", default[2]):
            return None
        return default[2]

    def _backticks(self, quoted: bool) -> None:
        end = self.at + 1
        while end < len(self.text) and self.text[end] != "`":
            end += 2 if self.text[end] == "\\" else 1
        inside = re.sub(r"\\([`$\\])", r"\1", self.text[self.at + 1 : end])
        self.found += _Lexer(inside, self._known, self._depth - 1, values=self._values).run()
        self._unknown(quoted)
        self.at = end + 1

    def _substitute(self, start: int, quoted: bool) -> None:
        inner = _Lexer(self.text, dict(self._known), self._depth - 1, values=self._values, at=start)
        self.found += inner.run(until=")")
        self._unknown(quoted)
        self.at = inner.at + 1

    def _unknown(self, quoted: bool) -> None:
        self._open_word().append((ANY, False))
        self._unsplit = self._unsplit and quoted

    def _nested(self, text: str) -> None:
        """Find the substitutions in text that is not itself a command."""
        if "$(" in text or "`" in text or "<(" in text:
            escaped = text.replace('"', "")
            inner = _Lexer(f'"{escaped}"', self._known, self._depth - 1, values=self._values)
            found = inner.run()
            # The last one is the text itself, unless it was nested too deep.
            self.found += found if found[-1].words == UNKNOWN else found[:-1]

    # Redirections and here-documents.

    def _redirect(self, sign: str) -> None:
        text, after = self.text, self.at + len(sign)
        if sign in ("<", ">") and text[after : after + 1] == "(":
            self._substitute(after + 1, quoted=True)
            return
        if self._word is not None and all(char.isdigit() and not q for char, q in self._word):
            self._word = None  # a file descriptor
        self._end_word()
        self.at = after
        while self.at < len(text) and text[self.at] in " \t":
            self.at += 1
        start, words = self.at, self._words
        self._words = []
        while self.at < len(text) and text[self.at] not in " \t\n;&|<>()":
            self._piece(quoted=False)
        self._end_word()
        given, self._words = "".join(self._words), words
        if sign in ("<<", "<<-"):
            is_literal = any(char in "'\"\\" for char in text[start : self.at])
            self._heredocs.append((given, not is_literal, self._stdin))
        elif sign == "<<<":
            self._stdin.append(given)
        else:
            self._targets.append(given)

    def _here_document(self, end: str, expands: bool) -> str:
        lines: list[str] = []
        while self.at < len(self.text):
            stop = self.text.find("\n", self.at)
            stop = len(self.text) if stop < 0 else stop
            line = self.text[self.at : stop]
            self.at = stop + 1
            if line.lstrip("\t") == end:
                break
            lines.append(line)
        body = "\n".join(lines)
        if expands:
            self._nested(body)
        return body

    # Words and commands.

    def _begin(self, piped_from: Words | None) -> None:
        self._word: Marked | None = None
        self._unsplit = True
        self._words: list[str] = []
        self._targets: list[str] = []
        self._stdin: list[str] = []
        self._piped_from = piped_from

    def _open_word(self) -> Marked:
        if self._word is None:
            self._word = []
        return self._word

    def _end_word(self) -> None:
        if self._word is None:
            return
        for each in brace_expanded(self._word):
            text = "".join(char for char, _ in each)
            self._words.append(text)
        if not self._unsplit:
            self._words.append(MANY)
        self._word, self._unsplit = None, True

    def _end_command(self, sign: str | None) -> None:
        words = self._words
        assignments: list[tuple[str, str]] = []
        while words and (set_ := _ASSIGNMENT.match(words[0])):
            assignments.append((set_[1], words.pop(0)[set_.end() :]))
            while words[:1] == [MANY]:
                words.pop(0)
        given = tuple(words)
        is_declaring = given[:1] and given[0] in (
            "export",
            "declare",
            "typeset",
            "local",
            "readonly",
        )
        if is_declaring:
            found = [(each, _ASSIGNMENT.match(each)) for each in given[1:]]
            assignments += [(one[1], each[one.end() :]) for each, one in found if one]
        if not given or is_declaring:
            self._known.update(assignments)
        if given or assignments or self._targets or self._stdin:
            self.found.append(
                Simple(given, tuple(assignments), tuple(self._targets), (), self._piped_from)
            )
            self._fill(len(self.found) - 1, self._stdin)
        self._begin(given if sign == "|" else None)

    def _fill(self, number: int, stdin: list[str]) -> None:
        """Attach here-documents, whose text comes after the end of the command."""
        late = _PendingHereDocument(self.found, number)
        for text in stdin:
            late.append(text)
        self._heredocs = [
            (end, expands, late if texts is stdin else texts)
            for end, expands, texts in self._heredocs
        ]

    def _find(self, sign: str, start: int) -> int:
        end = self.text.find(sign, start)
        return len(self.text) if end < 0 else end

    def _closing_brace(self, start: int) -> int:
        depth, at = 1, start
        while at < len(self.text):
            char = self.text[at]
            at += char == "\\"
            depth += (char == "{") - (char == "}")
            if depth == 0:
                return at
            at += 1
        return len(self.text)


class _PendingHereDocument(list[str]):
    """Adds the text of a here-document to its command once it is read."""

    def __init__(self, found: list[Simple], number: int) -> None:
        super().__init__()
        self._found, self._number = found, number

    def append(self, text: str, /) -> None:
        command = self._found[self._number]
        self._found[self._number] = command._replace(stdin=(*command.stdin, text))
