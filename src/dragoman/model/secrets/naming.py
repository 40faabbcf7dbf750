"""Recognize secret-sounding names of variables, fields, options and headers.

The end of a name decides: ``db_password`` contains one, ``password_length`` does not. Names are split
into words in any spelling: ``CLIENT_SECRET``, ``clientSecret``, ``client-secret``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, TypeAlias

Sound: TypeAlias = Literal["password", "secret", "token", "login", "phrase"]
"""What a name says about its value. ``password``: chosen by a person, so nearly any word.
``secret``: chosen or generated. ``token``: generated. ``login``: ``user:password`` in base64.
``phrase``: the words of a wallet."""

STEMS: Final = (
    "pass",
    "pwd",
    "pw",
    "psk",
    "secret",
    "token",
    "key",
    "cred",
    "auth",
    "jwt",
    "salt",
    "mnemonic",
    "seed",
)
"""Every name that sounds secret contains one of these."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORDS: Final = ("password", "passwd", "passphrase", "passwort", "passcode", "passwrd")
_GLUED_PASSWORDS: Final = word_set(
    "pwd psk rootpw dbpw userpw dbpass dbpasswd userpass smtppass mailpass rootpass sshpass"
    " adminpass sudopass mypass ftppass becomepass pgpass httppass proxypass bindpw"
)
_BEFORE_PASS: Final = word_set(
    "db database user usr smtp mail email ftp sftp sudo ssh admin root mysql pg postgres postgresql redis"
    " mongo mongodb rabbitmq amqp ldap proxy http https basic auth app api become ansible store key"
    " keystore truststore vnc wifi imap pop login my bind mq sql oracle mssql jenkins svn git vpn"
)
_GLUED_KEYS: Final = (
    *("apikey", "accesskey", "secretkey", "privatekey", "masterkey", "accountkey", "authkey"),
    *("appkey", "encryptionkey", "signingkey", "licensekey", "presharedkey", "subscriptionkey"),
    *("sharedkey", "sharedaccesskey", "storagekey", "functionkey"),
)
_BEFORE_KEY: Final = word_set(
    "api access private auth account encryption encrypt decryption signing sign secret master shared"
    " service app application client license ssh deploy admin subscription storage consumer session hmac"
    " jwt cookie aes crypto webhook rsa preshared root wireguard wg function host nonce in"
    " openai anthropic stripe sendgrid google maps azure github gitlab slack twilio mailgun datadog dd"
    " newrelic relic sentry algolia mapbox firebase supabase cloudflare heroku pinecone cohere mistral groq"
    " kaggle sdk wandb elevenlabs deepgram deepseek gemini huggingface replicate role automation integration ingest write"
)
_NOT_BEFORE_TOKEN: Final = word_set(
    "next page continuation sync pad eos bos unk sep cls mask stop start end special first last prev"
    " previous num max min input output total per each cancellation cancel lex left right close open"
    " image mode design color theme css syntax no is has expected unexpected parse"
)
_NOT_BEFORE_SECRET: Final = word_set("pull existing is has no image kubernetes k8s tls")
_AFTER: Final = word_set(
    "value values base64 b64 prod production dev development staging stage test testing live sandbox old"
    " new current primary secondary backup base raw plain plaintext text string str hex main ro rw read"
    " write default env var secure encoded here override input 0 1 2 3 4 5 6 7 8 9"
)
"""Words that may follow the deciding word."""


def words(name: str) -> list[str]:
    """The words of a name, in lower case."""
    return [word.lower() for word in _WORD.findall(name)]


@lru_cache(maxsize=4096)
def sound(name: str) -> Sound | None:
    """What a name says about its value; None if it does not sound secret."""
    parts = words(name)
    while len(parts) > 1 and parts[-1] in _AFTER:
        parts.pop()
    if not parts:
        return None
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if last.endswith((*_PASSWORDS, "storepass", "keypass")) or last in _GLUED_PASSWORDS:
        return "password"
    if last == "word" and before == "pass":
        return "password"
    if last in ("pass", "pw"):
        is_own = not before or before in _BEFORE_PASS or name.isupper()
        return "password" if is_own else None
    if last.endswith("secret"):
        return None if before in _NOT_BEFORE_SECRET else "secret"
    if last.endswith("token"):
        return None if before in _NOT_BEFORE_TOKEN else "token"
    if last == "key":
        if before == "secret":
            return "secret"  # people choose those of frameworks themselves
        return "token" if before in _BEFORE_KEY else None
    if last.endswith(_GLUED_KEYS):
        return "token"
    if last == "salt":
        return "token" if before in ("auth", "in", "nonce", "secret", "password") else None
    if last == "id":
        return "token" if before == "secret" else None
    if last in ("credential", "credentials", "creds", "cred", "jwt"):
        return "token"
    if last in ("auth", "authorization"):
        return "login"
    if last == "mnemonic" or parts[-2:] == ["seed", "phrase"]:
        return "phrase"
    return None
