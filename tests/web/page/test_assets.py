from __future__ import annotations

import re
from pathlib import Path

from dragoman.web.page import assets

STATIC = Path(assets.__file__).parent / "static"


def test_a_file_is_given_with_its_type_and_a_name_for_what_is_in_it() -> None:
    script, style, icon = (assets.asset(name) for name in ("app.js", "pieces.css", "icon.svg"))

    assert script is not None
    assert style is not None
    assert icon is not None
    assert script.media_type.startswith("text/javascript")
    assert b".hunks" in style.body
    assert icon.media_type == "image/svg+xml"
    assert len({script.etag, style.etag, icon.etag}) == 3


def test_no_name_leads_out_of_the_folder() -> None:
    for name in (
        "../views.py",
        "..%2fviews.py",
        "/etc/passwd",
        "views.py",
        "",
        "a/b.js",
        "none.js",
    ):
        assert assets.asset(name) is None


def test_scripts_are_small_and_never_make_markup_of_words() -> None:
    """One place parses HTML, and only what our own server made."""
    for path in STATIC.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 300, path
        assert text.count("innerHTML") == (path.name == "dom.js"), path
        assert not re.search(
            r"insertAdjacentHTML|outerHTML|document\.write|\beval\(|new Function", text
        ), path
        assert not re.search(r"https?://", text), path


def test_every_module_that_is_imported_is_there() -> None:
    for path in STATIC.glob("*.js"):
        for name in re.findall(
            r'from "\./([^"]+)"|import\("\./([^"]+)"\)', path.read_text(encoding="utf-8")
        ):
            assert (STATIC / (name[0] or name[1])).exists(), (path, name)


def test_style_sheets_load_nothing() -> None:
    for path in STATIC.glob("*.css"):
        assert not re.search(r"url\(|@import", path.read_text(encoding="utf-8")), path
