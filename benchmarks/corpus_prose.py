# ruff: noqa: RUF001  typographic marks and other scripts are the point
"""Prose for the corpus, in several languages and scripts: what people and agents write to each other."""

from __future__ import annotations

import random

_SENTENCES = (
    "The test still fails, because the greeting lacks a comma.",
    "I’ll check what it expects — and what it gets.",
    "Reading the configuration first; the defaults come from “settings.toml”.",
    "The cache is keyed by path, size and mtime → a renamed file is read again.",
    "✓ all 214 tests pass, in 3.8 s.",
    "Let me look at the callers before I change the signature.",
    "Nothing else imports this module, so it can be removed.",
    "Bitte prüfe, warum die Größe der Datei überschätzt wird.",
    "Die Änderung ist fertig; die Tests laufen wieder durch.",
    "Peux-tu déplacer cette méthode et vérifier les appels côté serveur ?",
    "La tâche est terminée : deux fichiers modifiés, aucun test supprimé.",
    "Żeby naprawić błąd, zmieniłem kolejność zapisów.",
    "¿Por qué la función devuelve una lista vacía la segunda vez?",
    "Проверь, пожалуйста, почему индекс растёт после каждого запуска.",
    "Тест падает только на пустом файле; исправляю проверку длины.",
    "設定ファイルの読み込みを先に確認します。",
    "テストはすべて成功しました。",
    "请检查为什么缓存没有更新，然后修复测试。",
    "已经修改了两个文件，所有测试都通过。",
    "캐시가 갱신되지 않는 이유를 확인해 주세요.",
)
_PLAIN = 7
"""The first ones are English, and come as often as all others."""


def prose(chance: random.Random, size: int) -> str:
    """About this many characters: paragraphs, mostly in one language."""
    main = _SENTENCES[:_PLAIN] if chance.random() < 0.7 else _SENTENCES[_PLAIN:]
    said: list[str] = []
    length = 0
    while length < size:
        sentence = chance.choice(main if chance.random() < 0.9 else _SENTENCES)
        said.append(sentence + ("\n\n" if chance.random() < 0.15 else " "))
        length += len(said[-1])
    return "".join(said).strip()[:size]
