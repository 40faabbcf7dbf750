"""Decide whether the value of a secret-sounding name is a secret, a placeholder, a type, or code."""

from __future__ import annotations

import math
import re
from binascii import Error, a2b_base64
from collections import Counter
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from dragoman.model.secrets.naming import Sound, word_set, words

Setting: TypeAlias = Literal["quoted", "line", "word", "argument"]
"""The context of a value. ``quoted``: in quotes. ``line``: alone after its name, as in a settings file.
``word``: up to the next blank, as in a command or a query. ``argument``: before a comma or a closing
bracket, where code has the name of a variable."""

_PLACEHOLDER: Final = re.compile(
    r"""(?ix)^(?:
      [\W_]*                                          # nothing but signs: ****, ...
    | <.*>? | \[.* | \{.*\} | \{\{.* | %\w+% | %[sdvr] | %\(.* | @@?\w+@@? | __\w+__ | \#\{.*
    | \$\{.* | \$\(.* | `.* | \$[A-Z_][A-Z0-9_]* | \$[a-z_]+ | \$[a-z]+(?:[A-Z][a-z]+)* | \$[0-9?@*]
    | \$(?:env|this|_[A-Z]+)\b.* | !\w+\ .* | !(?:vault|secret|env|Ref|Sub|GetAtt|ImportValue|reference|encrypted)\b.* | ENC\[.*
    | [x•·0_-]{3,} | (.)\1{3,}
    | .*\b(?:your|my|our|some|the|insert|enter|put|replace|change|add|paste|type)[-_ ].*
    | (?:required|nullable|sometimes|confirmed|string)\|.*      # rules of a form
    | your\w* | .*change[-_]?(?:me|it|this).* | replace[-_]?me | .*redacted.* | .*placeholder.* | .*dummy.*
    | (?:.*[-_. ])?(?:example|sample|fake|foo|bar|baz|foobar|foobared|todo|tbd|fixme)(?:[-_. ].*)?
    | none|null|nil|true|false|yes|no|on|off|undefined|n/a|na|required|optional|string|empty|unset|hidden|masked
    | (?:\w*[-_.])?(?:pass(?:word|wd|phrase|code)?|pwd|pw|secret|token|credentials?|api[-_]?key|(?:access|secret|private)[-_]?key)
    | admin|root|test|guest|user|default|postgres|mysql|redis|demo|anonymous|secret[-_]?key
    )$"""
)
_DUMMY: Final = re.compile(
    r"([B-Zb-z*.#_-])\1{4}|([Aa])\2{7}|xxxx|XXXX|EXAMPLE|(?i:your|placeholder|change.?me|redacted|insert|[-_]example|[-_]here\b)"
)
_TEMPLATE: Final = re.compile(
    r"\$\{|\$\(|\{\{|#\{|%\(\w|\{[A-Za-z_][\w.]*\}|<[a-z][\w -]*>|\$\{\{|%[A-Z_]{3,}%"
)
_REFERENCE: Final = re.compile(
    r"^(?:[A-Za-z]:[\\/].*|(?:https?|file|op|vault|ssm|env|awssm|gcpsm|secretsmanager|s3|gs)"
    r":(?://|\w+[/:]).*|arn:.*|projects/.*|secrets?[/.:].*|vault:.*|sha(?:1|256|512)[-:].*)$"
)
_PATH: Final = re.compile(r"^(?:\.{0,2}|~)/[\w./-]+$")
_CALL: Final = re.compile(
    r"^[!&*]?[A-Za-z_][\w.:>$-]*(?:<[\w, ]*>)?(?:\(.*\)?|\[.*\]?)[.\w()?!\[\]\"']*[;,:{]?$"
)
_ATTRIBUTE: Final = re.compile(r"^[&*!@$]?[A-Za-z_]\w*(?:(?:\??\.|::|->)[A-Za-z_]\w*)+[!?]?$")
_NAME: Final = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")
_LETTERS: Final = re.compile(r"^[A-Za-z]+$")
_DIGIT: Final = re.compile("[0-9]")
_LETTER: Final = re.compile("[A-Za-z]")
_PIECES: Final = re.compile(r"[-_./: ,@]+")
_MIXED: Final = re.compile(
    r"^(?![A-Za-z]?[a-z]+[0-9]{1,4}$)(?![A-Z]+[0-9]{1,4}$)(?![0-9]{1,4}(?:[A-Za-z]?[a-z]+|[A-Z]+)$)"
    r"(?=.*[0-9])(?=.*[A-Za-z]).{8,}$"
)
_UUID: Final = re.compile(r"(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_VERSION: Final = re.compile(r"^v?[0-9]+(?:[.-][0-9a-z]+)*$")
_STAMP: Final = re.compile(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}")

_CODE_WORDS: Final = word_set(
    # types
    "str string text bytes byte bool boolean int integer number float double char varchar any object unknown never"
    " void option optional maybe list array dict map set tuple type class struct interface enum schema ref readonly"
    " uuid date datetime json buffer slice vec box arc rc cow mut const static self this super literal union"
    # words of code and documents
    " value values var variable field fields input output name names param params parameter arg args argument default"
    " env environ environment config cfg conf settings options opts props state data body request req response res"
    " form user users account session client server db database row column item items result results key keys id ids"
    " hash hashed hasher digest plain plaintext encrypted encoded decoded raw new old current confirm confirmation"
    " valid invalid validate validator missing wrong correct incorrect empty blank none null nil undefined true false"
    " required optional hidden visible show hide toggle reset forgot forgotten change update create get set fetch load"
    " read write generate generated random make build parse next prev first last temp tmp test fake mock stub dummy"
    " sample example placeholder yes no not is has with from for and or the of in on at to by as a an my your"
    " pass password passwd passphrase pwd pw secret secrets token tokens cred creds credential credentials auth api"
    " access refresh bearer basic oauth jwt csrf cookie header headers private public private protected internal"
    " secure security prompt ask manual none provider service manager store storage helper util handler callback"
    " model entity dto view page label title description help hint error errors warning message msg await async return"
    " lambda function func def let else if match case short long min max length size count limit expires expired"
    " expiry rotate rotated managed vault kms file path url uri host port base source target origin local remote"
    " global shared common main app application system process global window document element component node"
    " verify verified policy rule rules strength strong weak free only less protected based login signin signup logout"
    " string64 base64 hex utf8 ascii sha md5 bcrypt scrypt argon sha256 pbkdf2 hmac aes rsa"
)
_STOP_WORDS: Final = word_set(
    "the a an is are was be been must should can may will your you our my their his her its it this that these to of"
    " for in on at by with from as and or not no if when then than please enter type choose forgot reset change new old"
    " required invalid wrong incorrect missing password passwords passphrase token secret characters chars character"
    " least min max minimum maximum long length contain contains containing use used using user username email sign log login"
    " needed set same match matches does did do don't field value here optional confirm repeat show hide only"
)


def is_placeholder(value: str) -> bool:
    """Whether it is a placeholder for a secret."""
    value = value.strip()
    return len(value) <= 200 and (_PLACEHOLDER.match(value) or _TEMPLATE.search(value)) is not None


def is_dummy(token: str) -> bool:
    """Whether something shaped like a key is made up: ``ghp_xxxxxxxx``."""
    return _DUMMY.search(token) is not None


def is_secret(sound: Sound, name: str, value: str, setting: Setting) -> bool:
    """Whether the value of a name that sounds secret is a secret."""
    value = value.strip()
    if not 4 <= len(value) <= 20_000 or is_placeholder(value):
        return False
    if value.startswith(("--", '"', "'", "[secret")):
        return False
    if _REFERENCE.match(value) or (_PATH.match(value) and not _is_base64(value)):
        return False
    if setting != "quoted" and (_CALL.match(value) or _is_attribute(value)):
        return False
    if sound == "phrase":
        return len(value.split()) >= 12
    if sound == "login":
        return is_login(value) or (len(value) >= 24 and " " not in value and is_random(value))
    if sound == "password":
        return _is_password(value, setting)
    if sound == "secret" and setting != "argument" and (len(words(name)) > 1 or name.isupper()):
        return _is_password(value, setting) and len(value) >= 8 and " " not in value
    return is_random(value)


def _is_attribute(value: str) -> bool:
    """Whether it is code such as ``settings.api_key``. No attribute has a random name."""
    if not _ATTRIBUTE.match(value):
        return False
    last = re.split(r"[.:>]", value)[-1]
    return len(last) < 24 or not _DIGIT.search(last) or not is_random(last)


def _is_password(value: str, setting: Setting) -> bool:
    """Whether it may be a password. People choose those, so nearly any word can be one."""
    if len(value) < 5 or _STAMP.match(value):
        return False
    if " " in value:
        return setting in ("quoted", "line") and is_phrase(value)
    if _is_code_name(value) or (setting == "quoted" and _ATTRIBUTE.match(value)):
        return False
    if setting == "argument":
        if _NAME.match(value):
            return bool(_MIXED.match(value)) and entropy(value) >= 2.5
        return _DIGIT.search(value) is not None
    if _LETTERS.match(value) or not _LETTER.search(value):
        return len(value) >= 6
    return True


def _is_code_name(value: str) -> bool:
    """Whether it consists of words of code, like the name of a variable, type or field."""
    if not re.match(r"^[A-Za-z_$][\w$.?|&<>\[\]-]*$", value) or _DIGIT.search(value):
        return False
    parts = words(value)
    known = sum(part in _CODE_WORDS for part in parts)
    if known == len(parts):
        return True
    # userPassword, new_token: named after its content
    holds = any(
        part in ("password", "passwd", "pwd", "secret", "token", "key", "credentials")
        for part in parts
    )
    return len(parts) > 1 and holds


def _is_base64(value: str) -> bool:
    """Whether a value that starts like a path is base64: directory names are rarely that long."""
    return any(len(piece) > 24 for piece in value.split("/"))


def is_phrase(value: str) -> bool:
    """Whether it is several words that do not form a sentence: ``correct horse battery staple``."""
    parts = value.split()
    if not 3 <= len(parts) <= 24 or value.endswith((".", ":", "!", "?", "…")):
        return False
    return all(
        part == part.lower() and part.isalnum() and part not in _STOP_WORDS for part in parts
    )


def is_login(value: str) -> bool:
    """Whether it is ``user:password`` in base64, as in the files of Docker and npm."""
    if len(value) < 8 or len(value) % 4 or not re.match(r"^[A-Za-z0-9+/]+={0,2}$", value):
        return False
    try:
        text = a2b_base64(value).decode("ascii")
    except (Error, UnicodeDecodeError):
        return False
    return ":" in text[1:-1] and text.isprintable()


def is_random(value: str) -> bool:
    """Whether it looks generated: long, mixed, and without words."""
    if _UUID.match(value):
        return True
    if len(value) < 12 or " " in value or _VERSION.match(value) or _STAMP.match(value):
        return False
    if value.startswith(("@", "#")) or "://" in value:
        return False
    pieces = _PIECES.split(value)
    if any(_MIXED.match(piece) for piece in pieces):
        return entropy(value) >= 2.8
    is_mixed = any(_DIGIT.search(piece) and _LETTER.search(piece) for piece in pieces)
    digits, letters = len(_DIGIT.findall(value)), len(_LETTER.findall(value))
    if is_mixed and min(digits, letters) >= 4 and len(value) >= 20 and entropy(value) >= 3.3:
        return True
    # Few digits or none: what matters is that case and kind change more often than in words.
    kinds = ["0" if c.isdigit() else "A" if c.isupper() else "a" for c in value if c.isalnum()]
    changes = sum(a != b for a, b in pairwise(kinds))
    return len(value) >= 16 and changes >= len(kinds) / 3 and entropy(value) >= 3.3


def entropy(text: str) -> float:
    """The bits per character."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)
