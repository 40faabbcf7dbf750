r"""The table of places that contain a secret, whatever it looks like: credentials in a URL, a cookie, a key block.

Each row of :data:`_ROWS` is one kind of place: what the secret is called, how a match is checked,
hints without which a text is not searched (whole words in lower case, or signs), and a pattern whose
group ``secret`` is the part to hide. :mod:`~dragoman.model.secrets.command_options` has the
options of known programs. To add a place, add a row.

Patterns allow for how text is quoted: inside a JSON string a newline is ``\n`` and a quote ``\"``,
and each line of a diff has a sign before it. They are bounded, so that they take linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypeAlias

from dragoman.model.secrets.command_options import COMMANDS, PIPE_HINTS, PIPED, QUOTE, WORD
from dragoman.model.secrets.judging import is_placeholder

Check: TypeAlias = Literal["any", "chosen", "digit", "body"]
"""``any``: every match counts. ``chosen``: placeholders do not. ``digit``: nor does what has no
digit. ``body``: the secret must hold a line of base64."""

_BODY: Final = re.compile("[A-Za-z0-9+/=]{16}")
_DIGIT: Final = re.compile("[0-9]")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # Compiling all of them takes longer than most exports; few are needed for one text.
    return re.compile(pattern, re.MULTILINE | re.ASCII)


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """One row of the table."""

    kind: str
    check: Check
    words: frozenset[bytes]
    signs: tuple[str, ...]
    pattern: str

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the matches, if the text contains one of the hints."""
        for match in _compiled(self.pattern).finditer(text):
            if self._counts(match["secret"]):
                yield match.span("secret")

    def _counts(self, secret: str) -> bool:
        if self.check == "any":
            return True
        if self.check == "body":
            return _BODY.search(secret) is not None
        if is_placeholder(secret):
            return False
        return self.check == "chosen" or _DIGIT.search(secret) is not None


_LINE: Final = r"(?:^|(?<=\\n))[+ -]?"
"""Where a line begins, also one of a diff, or in a JSON string."""
_TEXT: Final = r"(?P<secret>[^\s\"'`\\]{3,200})"
_STRING: Final = r"\\{0,3}(?P<quote>[\"'])(?P<secret>[^\r\n]{3,200}?)\\{0,3}(?P=quote)"

_PROSE: Final = r"(?!(?:reset|is|was|for|and|or|field|must|prompt|manager|change|recovery)\b)"
"""Not words that continue a sentence."""

_VARIABLE: Final = (
    r"[ \t]+\w{0,40}(?:PASSWORD|PASSWD|_PASS|PASSPHRASE|SECRET|TOKEN|API_KEY|SECRET_KEY)[ \t]+"
    + _TEXT
)

_ROWS: Final[tuple[tuple[str, Check, tuple[str, ...], str], ...]] = (
    # Key blocks: whole, or what is left of one that was cut.
    (
        "private key",
        "body",
        ("private",),
        r"(?P<secret>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]{0,20000}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:[A-Za-z0-9+/=:,. \t\\-]|\r?\n)*))",
    ),
    (
        "private key",
        "body",
        ("private",),
        r"(?P<secret>(?:^|(?<=\\n))(?:[+ -]?[A-Za-z0-9+/=]{20,100}(?:\r?\n|\\n)){1,120}+"
        r"[+ -]?-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)",
    ),
    (
        "private key",
        "body",
        ("private",),
        r"Private-Lines: [0-9]+(?P<secret>(?:(?:\r?\n|\\n)[+ -]?[A-Za-z0-9+/=]{20,80})+)",
    ),
    # Addresses.
    (
        "password",
        "chosen",
        ("://",),
        r"://[^\s:/@\"'<>`\\]{0,100}:(?P<secret>[^\s/\"'<>`\\]{3,400})@",
    ),
    (  # A slash in the password is wrong, and common.
        "password",
        "chosen",
        ("://",),
        r"://[^\s:/@\"'<>`\\]{1,100}:(?P<secret>(?![0-9]{1,5}[/?#])[^\s\"'<>`\\@?=]{3,200})@[\w.-]{3,}[:/]",
    ),
    ("key in an address", "digit", ("://",), r"://(?P<secret>[\w-]{20,200})(?::x-oauth-basic)?@"),
    ("key in an address", "digit", ("://",), r"://(?P<secret>[0-9a-f]{32}:[0-9a-f]{32})@"),
    (
        "webhook",
        "any",
        ("hooks",),
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<secret>[\w/]{20,})",
    ),
    (
        "webhook",
        "any",
        ("webhooks",),
        r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/[0-9]{5,}/(?P<secret>[\w-]{20,})",
    ),
    (
        "webhook",
        "any",
        ("webhook",),
        r"(?:webhook|outlook)\.office(?:365)?\.com/webhook(?:b2)?/(?P<secret>[\w@/-]{30,})",
    ),
    (
        "webhook",
        "any",
        ("hooks",),
        r"hooks\.zapier\.com/hooks/catch/(?P<secret>[\w/]{10,})",
    ),
    ("signature", "digit", ("sig",), r"[?&;]sig=(?P<secret>[A-Za-z0-9%+/=_-]{20,})"),
    (
        "signature",
        "digit",
        ("signature",),
        r"[?&;, ](?:X-Amz-|X-Goog-)?Signature=(?P<secret>[A-Za-z0-9%+/=_~-]{20,})",
    ),
    ("key in an address", "digit", ("key",), r"key=(?<=[?&]key=)(?P<secret>[\w-]{20,200})"),
    ("Telegram token", "any", ("/bot",), r"/bot(?P<secret>[0-9]{6,12}:[\w-]{30,})"),
    # Headers.
    (
        "bearer token",
        "digit",
        ("bearer",),
        rf"[Bb](?:earer|EARER)[ \t]+{QUOTE}(?P<secret>[\w.~+/|:=-]{{12,}})",
    ),
    (
        "password",
        "chosen",
        ("basic",),
        r"[Bb](?:asic|ASIC)[ \t]+(?P<secret>(?=[A-Za-z]{0,60}[0-9A-Z+/=])(?![A-Z][a-z]+\b)[A-Za-z0-9+/_-]{8,}={0,2})(?![\w-])",
    ),
    (
        "authorization",
        "digit",
        ("authorization",),
        rf"(?:[Aa]uthorization|AUTHORIZATION){QUOTE}\s{{0,3}}[:=,]\s{{0,3}}{QUOTE}"
        rf"(?:[A-Za-z][\w-]{{1,30}}[ =](?:[Tt]oken=)?{QUOTE})?"
        r"(?P<secret>(?!(?:[Bb]earer|[Bb]asic|[Dd]igest|AWS4)\b)[\w.~+/|:=-]{12,})",
    ),
    ("authorization", "any", ("digest",), r"response=\\{0,3}\"?(?P<secret>[0-9a-f]{32,128})"),
    (
        "cookie",
        "chosen",
        ("cookie",),
        rf"(?:[Cc]ookie|COOKIE){QUOTE}:[ \t]{{0,3}}(?:\[[ ]?)?{QUOTE}[\w.$!%-]{{1,80}}=\"?(?P<secret>[^\s;\"'\\,]{{6,4000}})",
    ),
    (
        "cookie",
        "digit",
        ("cookie",),
        r"(?<=; )[\w.-]{0,40}(?i:sess|sid|auth|token|jwt|csrf|xsrf|remember|login)[\w.-]{0,40}="
        r"\"?(?P<secret>[^\s;\"'\\,]{8,4000})",
    ),
    (
        "cookie",
        "digit",
        ("b", "cookie"),
        rf"-(?<=\s-)(?:b|-cookie)[ =]{QUOTE}[\w.-]{{1,60}}=(?P<secret>[^\s;\"'\\]{{8,}})",
    ),
    (
        "cookie",
        "digit",
        ("phpsessid", "jsessionid", "sid", "sessionid"),
        r"(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid|sessionid|laravel_session)=(?P<secret>[\w%.:-]{16,400})",
    ),
    # Hashes of passwords: shadow, htpasswd, frameworks, databases, dumps of Windows.
    (
        "password hash",
        "any",
        ("$",),
        r"(?P<secret>\$(?<![\w$]\$)(?:1|2[abxy]?|5|6|7|y|gy|apr1|argon2(?:id|i|d)|scrypt|pbkdf2[\w-]{0,12}|P|H|S|sha1)"
        r"\$[^\s:\"'`;<>\\]{16,300})",
    ),
    (
        "password hash",
        "any",
        ("ssha", "ssha256", "ssha512", "sha", "crypt", "md5", "smd5", "pbkdf2"),
        r"(?P<secret>\{(?:SSHA|SHA|CRYPT|MD5|SMD5|PBKDF2)[0-9-]{0,4}\}[A-Za-z0-9+/=$.]{12,200})",
    ),
    (
        "password hash",
        "any",
        ("pbkdf2", "bcrypt", "argon2", "scrypt"),
        r"(?<!\w)(?P<secret>(?:pbkdf2_sha\d{1,3}|bcrypt(?:_sha256)?|argon2|scrypt)\$[\w$./+=,-]{30,300})",
    ),
    (
        "password hash",
        "any",
        ("scrypt", "pbkdf2"),
        r"(?<!\w)(?P<secret>(?:scrypt|pbkdf2:sha\d{1,3}):[0-9:]{1,20}\$\w{6,40}\$[0-9a-f]{40,200})",
    ),
    (
        "password hash",
        "any",
        ("scram",),
        r"(?P<secret>SCRAM-SHA-\d{1,3}\$[0-9]+:[\w+/=]{10,}\$[\w+/=:]{40,})",
    ),
    (
        "password hash",
        "any",
        (":::",),
        r":[0-9]{1,10}:(?P<secret>[0-9A-Fa-f]{32}:[0-9A-Fa-f]{32}):::",
    ),
    # Files of credentials: netrc, pgpass, Docker files.
    (
        "password",
        "chosen",
        ("login",),
        rf"login\s{{1,8}}\S{{1,100}}(?:\s|\\n){{1,8}}(?:account\s+\S+\s+)?password\s{{1,8}}{_PROSE}{QUOTE}{_TEXT}",
    ),
    (
        "password",
        "chosen",
        ("machine",),
        rf"machine\s{{1,8}}\S{{1,100}}(?:\s|\\n){{1,8}}password\s{{1,8}}{_TEXT}",
    ),
    (
        "password",
        "chosen",
        (":",),
        r":(?<=[\w*\]]:)(?:\*|[1-9][0-9]{3,4}):(?:\*|(?![0-9]+:)[\w.-]{1,63}):(?:\*|[\w.@-]{1,63})"
        r":(?P<secret>(?![0-9a-f:]{1,40}(?:[\s/\"'`]|$))[^\s:\"'`\\](?:[^\s\"'`\\]|\\[:\\]){2,200})(?=[\s\"'`\\]|$)",
    ),
    ("password or key", "chosen", ("env",), rf"ENV(?<!\wENV){_VARIABLE}"),
    ("password or key", "chosen", ("arg",), rf"ARG(?<!\wARG){_VARIABLE}"),
    ("password or key", "chosen", ("setx",), rf"(?i:setx)(?:[ \t]+/[mM])?{_VARIABLE}"),
    (
        "password",
        "chosen",
        ("requirepass", "masterauth", "bindpw", "rootpw"),
        rf"(?:requirepass|masterauth|bindpw|(?<![\w ])rootpw)[ \t]+{QUOTE}{_TEXT}",
    ),
    # SQL.
    (
        "password",
        "chosen",
        ("identified",),
        rf"(?i:identified\s+(?:with\s+[\w'\"`]{{1,40}}\s+)?(?:by|as)(?:\s+password)?)\s+{_STRING}",
    ),
    (
        "password",
        "chosen",
        ("identified",),
        r"(?i:identified\s+by\s+)(?P<secret>[^\s\"'`;\\]{4,100})",
    ),
    (
        "password",
        "chosen",
        ("set",),
        rf"(?i:set\s+password\s+for\s+\S{{1,100}}\s*=\s*(?:password\()?)\s*{_STRING}",
    ),
    (
        "password",
        "chosen",
        ("getconnection",),
        rf"getConnection\([^\n]{{1,200}}?,\s*{QUOTE}[\w.@-]{{1,60}}{QUOTE},\s*{_STRING}\s*\)",
    ),
    (
        "password",
        "chosen",
        ("thin",),
        r"jdbc:oracle:thin:[\w$]{1,40}/(?P<secret>[^\s@\"'\\]{3,100})@",
    ),
    (
        "password",
        "chosen",
        ("securestring",),
        rf"ConvertTo-SecureString\s+(?:-String\s+)?{_STRING}",
    ),
    (
        "password",
        "chosen",
        ("securestring",),
        r"ConvertTo-SecureString\s+(?:-String\s+)?(?P<secret>[^\s\"'$()`\\-][^\s\"'()`\\]{3,100})(?=\s)",
    ),
    ("password", "chosen", ("auth",), r"NEO4J_AUTH[=:]\s?\w{1,30}/(?P<secret>[^\s\"'`\\]{3,100})"),
    ("Firebase key", "any", (":APA91b",), r"(?P<secret>[\w-]{7,30}:APA91b[\w-]{60,})"),
    # Output of programs, and sentences.
    (
        "password",
        "any",
        ("generated",),
        r"temporary password is generated for \S{1,80}: (?P<secret>[^\s()\\]{6,100})",
    ),
    (
        "password",
        "any",
        ("key",),
        r"(?:Unseal|Recovery) Key [0-9]{1,2}: (?P<secret>[\w+/=-]{32,100})",
    ),
    (
        "key",
        "digit",
        ("key", "token"),
        r"(?i:(?:api|access|secret|auth)[ ](?:key|token))(?:[ ]is)?:?[ ]{1,2}`?(?P<secret>[A-Za-z0-9_.+/=-]{20,200})(?![\w/])",
    ),
    (
        "password",
        "digit",
        ("user", "username", "login"),
        rf"(?i:user|username|login)[ :=]{{1,2}}[\w.@-]{{1,60}},?[ ]+(?i:pass|password|pwd|pw)[ ]{_TEXT}",
    ),
    (
        "password",
        "any",
        ("app",),
        r"(?i:app(?:lication)?[ -]password)\"?[:= ]{1,3}\"?(?P<secret>[a-z]{4}[ ][a-z]{4}[ ][a-z]{4}[ ][a-z]{4})\b",
    ),
    (
        "password",
        "chosen",
        ("password", "passwort", "passphrase"),
        r"(?i:password|passwort|passphrase)[ ](?:for[ ][\w.@'\"-]{1,60}(?:[ ]is)?|is):[ ]"
        rf"(?!(?i:wrong|incorrect|invalid|expired|changed|missing|required|not|no|too|ok)\b){QUOTE}{_TEXT}{QUOTE}[.]?(?=\s*$|\\)",
    ),
    (
        "wallet",
        "any",
        ("phrase",),
        r"(?i:(?:seed|recovery|mnemonic|backup)[ ]phrase)(?:[ ]is)?:?[ ]{1,2}"
        r"(?P<secret>(?:[a-z]{3,8}[ ]){11,23}[a-z]{3,8})(?![a-z])",
    ),
    # Arguments of functions.
    (
        "password",
        "chosen",
        ("login", "auth", "httpbasicauth", "basic_auth", "basicauth"),
        r"(?:\.login\(|HTTPBasicAuth\(|\b(?:basic_)?auth\s?[=:]\s?[(\[])\s?"
        rf"\\{{0,3}}[\"'][\w.@+-]{{1,60}}\\{{0,3}}[\"'],\s?{_STRING}",
    ),
    (
        "key",
        "any",
        ("username",),
        rf"username{QUOTE}:\s?{QUOTE}[\w.-]{{1,60}}{QUOTE},\s?{QUOTE}key{QUOTE}:\s?{QUOTE}(?P<secret>[0-9a-f]{{32}})(?!\w)",
    ),
    # Network devices.
    (
        "password",
        "chosen",
        ("username",),
        r"username[ ]\S{1,60}[ ](?:privilege[ ][0-9]{1,2}[ ])?(?:secret|password)[ ](?:[0-9][ ])?(?P<secret>[^\s\"'`\\]{3,200})",
    ),
    (
        "password",
        "chosen",
        ("password", "secret", "key"),
        r"(?:password|secret|key)[ ](?:[05-9]|md5|sha512|encrypted)[ ](?P<secret>\$?[\w./$+]{6,200})",
    ),
    (
        "password",
        "chosen",
        ("community",),
        rf"snmp-server[ ]community[ ]{QUOTE}{_TEXT}",
    ),
    ("password", "chosen", ("crypt",), rf"(?<!\w)crypt\({_STRING},\s*gen_salt"),
    # Recognized by a word inside.
    (
        "Azure secret",
        "any",
        ("Q~",),
        r"(?<![\w~.-])(?P<secret>[\w~.-]{3}[0-9]Q~[\w~.-]{31,34})(?![\w~-])",
    ),
    ("Neon password", "digit", ("npg_",), r"(?<!\w)(?P<secret>npg_[A-Za-z0-9]{12,60})(?!\w)"),
    (
        "Azure key",
        "any",
        ("JQQJ9",),
        r"(?<!\w)(?P<secret>[A-Za-z0-9]{20,60}JQQJ9[9D][A-Za-z0-9]{20,40})(?!\w)",
    ),
    (
        "Terraform token",
        "any",
        ("atlasv1",),
        r"(?<!\w)(?P<secret>[A-Za-z0-9]{10,20}\.atlasv1\.[\w=-]{40,})",
    ),
    ("Google token", "any", ("1//0",), r"(?<![\w/])(?P<secret>1//0[\w-]{30,})"),
    (
        "PayPal token",
        "any",
        ("access",),
        r"(?P<secret>access_token\$(?:production|sandbox)\$[\w$]{20,})",
    ),
    (
        "Asana token",
        "any",
        ("/1",),
        r"/1(?<![\w/][0-2]/1)(?<=[0-2]/1)(?P<secret>[0-9]{9,19}:[0-9a-f]{32})(?!\w)",
    ),
    ("Fly token", "any", ("flyv1",), r"FlyV1 (?P<secret>[\w+/=,-]{20,})"),
)


def _is_word(hint: str) -> bool:
    return hint.isalnum() and hint.islower()


def _places() -> tuple[SecretPlace, ...]:
    rows: list[tuple[str, Check, tuple[str, ...], str]] = [*_ROWS]
    for hints, program, option in COMMANDS:
        # The words of a command may be items of a list.
        program = program.removesuffix(r"\s") + r"[\s\"']" if program.endswith(r"\s") else program
        words = rf"{program}(?:[^\n|;&]{{0,200}}?[\s\"'])??" if program else ""
        rows.append(("password", "chosen", hints, rf"{words}{option}{WORD}"))
    for piped in PIPED:
        words = rf"(?:echo|printf)\s(?:-\w\s|[\"']%s[\"']\s)?{QUOTE}{piped}"
        rows.append(("password", "chosen", PIPE_HINTS, words))
    return tuple(
        SecretPlace(
            kind,
            check,
            frozenset(hint.encode() for hint in hints if _is_word(hint)),
            tuple(hint for hint in hints if not _is_word(hint)),
            pattern,
        )
        for kind, check, hints, pattern in rows
    )


PLACES: Final = _places()
