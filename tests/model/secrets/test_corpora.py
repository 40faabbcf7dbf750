"""How much of what is secret is found, and how little of what is not.

The targets are those of the documentation: docs/export.md has the figures.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from dragoman.export.redact import Redactor
from support.secret_corpora import fifth, fourth, held_out, templates, third
from support.secret_corpora.filling import Sample, samples

_SEEDS = (1, 2, 3)
_AROUND: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "JSON": lambda text: json.dumps({"output": text}),
    "JSON in JSON": lambda text: json.dumps(json.dumps({"output": text})),
    "diff": lambda text: f"@@ -1 +1 @@\n-old\n+{text}\n context",
    "log": lambda text: f"2026-11-18 10:00:00 INFO {text}",
    "prompt": lambda text: f"$ {text}\nok",
    "colours": lambda text: f"\x1b[32m{text}\x1b[0m",
}


def _all(name: str) -> tuple[list[Sample], list[Sample]]:
    corpus = {
        "templates": templates,
        "held out": held_out,
        "third": third,
        "fourth": fourth,
        "fifth": fifth,
    }[name]
    secret = [sample for seed in _SEEDS for sample in samples(corpus.SECRETS, seed)]
    return secret, [sample for seed in _SEEDS for sample in samples(corpus.LOOK_ALIKES, seed)]


def _shows(shown: str, secret: str) -> bool:
    once = json.dumps(secret)[1:-1]
    return any(spelled in shown for spelled in (secret, once, json.dumps(once)[1:-1]))


@pytest.mark.parametrize("around", _AROUND)
@pytest.mark.parametrize("corpus", ["templates", "held out", "third", "fourth", "fifth"])
def test_secrets_are_masked_and_look_alikes_are_not(corpus: str, around: str) -> None:
    secrets, look_alikes = _all(corpus)
    put = _AROUND[around]

    missed = [
        sample.text
        for sample in secrets
        if sample.secret is not None and _shows(Redactor().text(put(sample.text)), sample.secret)
    ]
    wrong = [
        shown for sample in look_alikes if "[secret" in (shown := Redactor().text(put(sample.text)))
    ]

    assert len(missed) <= len(secrets) * 8 / 110 / 4, missed
    assert len(wrong) <= len(look_alikes) * 3 / 90 / 4, wrong


def test_the_corpora_are_large_and_labelled() -> None:
    for corpus in ("templates", "held out", "third", "fourth", "fifth"):
        secrets, look_alikes = _all(corpus)
        assert len(secrets) >= 450
        assert len(look_alikes) >= 450
        assert all(sample.secret and len(sample.secret) >= 5 for sample in secrets)
