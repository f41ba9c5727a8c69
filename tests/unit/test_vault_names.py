"""What counts as a path, and which names are sound enough to create."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.vault.names import (
    LONGEST_NAME,
    check_new_file_name,
    check_new_name,
    is_hidden,
    parse_path,
    sound_name,
    with_extension,
)
from eris.errors import DeniedError, ErisError, InvalidError

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("notes/today.md", ("notes", "today.md")),
        ("./notes//today.md", ("notes", "today.md")),
        ("notes\\today.md", ("notes", "today.md")),
        (" notes/today.md ", ("notes", "today.md")),
        ("vault:notes/today.md", ("notes", "today.md")),
        ("[[today]]", ("today",)),
        ("[[notes/today|my day]]", ("notes", "today")),
        ("notes/", ("notes",)),
        ("", ()),
        (".", ()),
        ("cafe\u0301.md", ("caf\u00e9.md",)),
        ("\uff0e\uff0e/x.md", ("\uff0e\uff0e", "x.md")),
        ("a\u2215b.md", ("a\u2215b.md",)),
        ("%2e%2e/x.md", ("%2e%2e", "x.md")),
        (f"{FAMILY}.md", (f"{FAMILY}.md",)),
    ],
)
def test_a_path_is_split_into_plain_names(written, parts):
    assert parse_path(written) == parts


@pytest.mark.parametrize(
    "written",
    [
        "../x.md",
        "notes/../../x.md",
        "notes/../today.md",
        "..",
        "..\\x.md",
        "vault:../x.md",
        "vault:/etc/passwd",
        "[[../x]]",
        "/etc/passwd",
        "//etc/passwd",
        "\\etc\\passwd",
        "C:\\Windows\\x.md",
        "c:/x.md",
        "~/x.md",
        "~",
        ".eris/config.toml",
        ".git/config",
        "notes/.hidden.md",
        ".obsidian",
        "...",
        "\u200c.git/config",
        "\u202e.git/config",
    ],
)
def test_a_path_that_leaves_the_vault_or_names_hidden_things_is_denied(written):
    with pytest.raises(DeniedError):
        parse_path(written)


@pytest.mark.parametrize("written", ["/notes/today.md", "C:/notes/today.md", "../today.md"])
def test_the_refusal_says_what_a_path_should_look_like(written):
    with pytest.raises(DeniedError) as caught:
        parse_path(written)
    assert caught.value.hint == "Give a path relative to the vault, such as notes/today.md."


@pytest.mark.parametrize(
    "written", ["a\0b.md", "a\nb.md", "a\x7f.md", "a\ud800.md", "a\u2028b", "a/" * 40, "a" * 2000]
)
def test_a_path_that_makes_no_sense_is_invalid(written):
    with pytest.raises(InvalidError):
        parse_path(written)


ATTACKS = st.lists(
    st.sampled_from(
        [
            *("..", ".", "/", "\\", "~", "\0", "C:", "vault:", "[[", "]]", "|", " "),
            *("\u2024\u2024", "\uff0e\uff0e", "\u2215", "\uff0f", "\u200b", "\u202e", "e\u0301"),
            *("notes", "today.md", ".git"),
        ]
    ),
    max_size=8,
).map("".join)


@given(ATTACKS | st.text(max_size=40))
def test_whatever_is_written_the_names_are_plain_or_refused(written):
    try:
        parts = parse_path(written)
    except ErisError:
        return
    for name in parts:
        assert name
        assert name not in {".", ".."}
        assert not is_hidden(name)
        assert not set(name) & set("/\\\0")
        assert name == unicodedata.normalize("NFC", name)


ORDINARY = (
    "today.md",
    "Día de la Ñ.md",
    "買い物.md",
    "🍋 lemons.md",
    f"{FAMILY}.md",
    "v1.2.md",
    "C# notes.md",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.md",  # Persian, which needs the joiner
    "consul.md",
    "com10.md",
    "\uff11\uff0f\uff12 cup.md",  # what Japanese users write for 1/2
)


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_names_can_be_created(name):
    check_new_name(name, name)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("What now?.md", "What now.md"),
        ("a:b.md", "a-b.md"),
        ("10: 30 plan.md", "10 - 30 plan.md"),
        ("CON.md", "CON note.md"),
        ("nul", "nul note"),
        ("Lpt1.txt", "Lpt1 note.txt"),
        ("com¹.md", "com¹ note.md"),
        ("plan.", "plan"),
        ("plan ", "plan"),
        (" plan.md", "plan.md"),
        ("to\u200bday.md", "today.md"),
        ("gpj.\u202etxt", "gpj.txt"),
        ('a"b|c*d<e>f.md', "a-b-c-d-e-f.md"),
    ],
)
def test_an_unsound_name_is_refused_with_a_better_one(name, instead):
    with pytest.raises(InvalidError) as caught:
        check_new_name(name, f"notes/{name}")
    assert caught.value.hint == f"Use notes/{instead} instead."
    check_new_name(instead, instead)


@pytest.mark.parametrize("name", ["\uff0e\uff0e", "\u2024\u2024", "???", "x" * 256])
def test_a_name_that_can_not_be_sane_is_refused(name):
    with pytest.raises(InvalidError):
        check_new_name(name, name)


@given(st.text(min_size=1, max_size=300))
def test_a_suggested_name_is_always_one_that_is_accepted(name):
    better = sound_name(name)
    if better:
        check_new_name(better, better)
        assert len(better.encode()) <= LONGEST_NAME


@pytest.mark.parametrize(
    ("name", "extended"),
    [
        ("today", "today.md"),
        ("today.md", "today.md"),
        ("README.MD", "README.MD"),
        ("list.txt", "list.txt"),
        ("v1.2", "v1.2.md"),
        ("2026.12.01", "2026.12.01.md"),
        ("Mr.Smith", "Mr.Smith.md"),
        ("Dr. Smith", "Dr. Smith.md"),
    ],
)
def test_a_name_without_an_extension_gets_the_one_of_notes(name, extended):
    assert with_extension(name) == extended


def test_a_picture_is_not_written_as_text():
    with pytest.raises(InvalidError, match="isn't text") as caught:
        check_new_file_name("photo.PNG", "a/photo.PNG")
    assert caught.value.hint == "Use a/photo.md instead."
