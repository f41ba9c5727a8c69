"""Reading and listing: sane sentences for whatever is there."""

import pytest

from actors.vault.lookup import Lookup
from actors.vault.reading import MOST_LISTED, PAGE_CHARACTERS, Reader
from actors.vault.replacing import MOST_BYTES
from actors.vault.service.finding import Finder
from actors.vault.vault_folder import VaultFolder
from eris.errors import ConflictError, InvalidError, NotFoundError


@pytest.fixture
def place(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    return vault


@pytest.fixture
def vault(place):
    folder = VaultFolder(place)
    yield folder
    folder.close()


@pytest.fixture
def reader(vault):
    lookup = Lookup(vault, clock=lambda: 0.0)
    return Reader(Finder(vault, lookup), lookup, clock=lambda: 0.0)


def fill(place, notes):
    for path, text in notes.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(text if isinstance(text, bytes) else text.encode())


TEXTS = {
    "plain": (b"buy milk\n", "buy milk\n"),
    "with a byte order mark": (b"\xef\xbb\xbfbuy milk", "buy milk"),
    "Windows lines": (b"a\r\nb\r\n", "a\r\nb\r\n"),
    "empty": (b"", ""),
    "not only ASCII": ("naïve 買う 🍋".encode(), "naïve 買う 🍋"),
}


@pytest.mark.parametrize(("data", "text"), TEXTS.values(), ids=TEXTS.keys())
def test_a_note_is_read_as_it_is(place, reader, data, text):
    fill(place, {"x.md": data})
    assert reader.read("x.md").text == text


UNREADABLE = {
    "Latin-1": (b"caf\xe9", "isn't UTF-8 text: byte 3 is 0xe9"),
    "UTF-16": ("milk".encode("utf-16"), "UTF-16 text"),
    "binary": (b"\x89PNG\r\n\x1a\n\0\0\0", "binary file"),
}


@pytest.mark.parametrize(("data", "sentence"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_is_no_utf8_text_is_refused_with_its_name(place, reader, data, sentence):
    fill(place, {"notes/x.md": data})
    with pytest.raises(InvalidError, match=sentence) as caught:
        reader.read("notes/x.md")
    assert "notes/x.md" in caught.value.message
    assert caught.value.hint


def test_a_file_of_two_gigabytes_is_refused_without_reading_it(place, reader):
    with (place / "huge.md").open("wb") as file:
        file.truncate(2 * 1024**3)
    with pytest.raises(InvalidError, match=r"huge\.md has 2,147,483,648 bytes"):
        reader.read("huge.md")


def test_the_largest_note_is_read_and_one_byte_more_is_not(place, reader):
    fill(place, {"x.md": b"x" * MOST_BYTES, "y.md": b"x" * (MOST_BYTES + 1)})
    assert reader.read("x.md").total == MOST_BYTES
    with pytest.raises(InvalidError, match="limit for notes"):
        reader.read("y.md")


@pytest.mark.parametrize(
    "text",
    ["word " * 10_000, "".join(f"line {n}\r\n" for n in range(5000)), "🍋" * 20_000, "x"],
    ids=["one line", "Windows lines", "emoji", "short"],
)
def test_a_long_note_is_read_in_portions_that_make_up_the_whole(place, reader, text):
    fill(place, {"long.md": text})
    pages = []
    offset = 0
    while offset < len(text):
        page = reader.read("long.md", offset)
        assert 0 < len(page.text) <= PAGE_CHARACTERS
        assert page.total == len(text)
        pages.append(page.text)
        offset = page.end
    assert "".join(pages) == text
    with pytest.raises(InvalidError, match="behind its end"):
        reader.read("long.md", offset)


FOUND = {
    "its path": ("notes/today.md", "notes/today.md"),
    "without extension": ("notes/today", "notes/today.md"),
    "its name alone": ("today.md", "notes/today.md"),
    "its stem alone": ("today", "notes/today.md"),
    "its stem in another case": ("TODAY", "notes/today.md"),
    "another case": ("NOTES/Today.md", "notes/today.md"),
    "at the top first": ("ideas", "ideas.md"),
    "a wiki link": ("[[today]]", "notes/today.md"),
    "a text file": ("list.txt", "notes/list.txt"),
}


@pytest.mark.parametrize(("asked", "path"), FOUND.values(), ids=FOUND.keys())
def test_a_note_is_found_by(place, reader, asked, path):
    fill(
        place, {"notes/today.md": "a", "ideas.md": "b", "old/ideas.md": "c", "notes/list.txt": "d"}
    )
    page = reader.read(asked)
    assert page.path == path
    assert bool(page.asked) == (asked != path)


def test_of_several_notes_of_one_name_none_is_guessed(place, reader):
    fill(place, {f"{folder}/today.md": "x" for folder in "abcdefghij"})
    with pytest.raises(ConflictError, match=r"10 notes are called today: a/today\.md.*and 2 more"):
        reader.read("today")


MISSING = {
    "the same name elsewhere": ("wrong/today.md", "notes/today.md"),
    "a slip": ("notes/tody.md", "notes/today.md"),
    "a part of the name": ("shopping", "lists/shopping list.md"),
}


@pytest.mark.parametrize(("asked", "meant"), MISSING.values(), ids=MISSING.keys())
def test_a_note_that_is_not_there_is_answered_with_those_that_are_close(
    place, reader, asked, meant
):
    fill(place, {"notes/today.md": "a", "lists/shopping list.md": "b", ".trash/tody.md": "c"})
    with pytest.raises(NotFoundError, match="There is no note") as caught:
        reader.read(asked)
    assert caught.value.hint == f"Did you mean {meant}?"


def test_a_folder_is_no_note(place, reader):
    fill(place, {"notes/today.md": "a"})
    with pytest.raises(InvalidError, match="is a folder"):
        reader.read("notes")


def test_a_small_vault_is_listed_whole_without_hidden_things_and_links(place, reader):
    fill(
        place,
        {"notes/today.md": "", "ideas.md": "", ".obsidian/app.json": "", "notes/.x.tmp": "",
         "Día/ñ.md": ""},
    )  # fmt: skip
    (place / "link.md").symlink_to("ideas.md")
    listing = reader.list()
    assert set(listing.lines) == {"Día/", "Día/ñ.md", "ideas.md", "notes/", "notes/today.md"}
    assert (listing.more, listing.links) == (0, 1)
    assert reader.list("notes").lines == ("notes/today.md",)


def test_a_large_vault_is_listed_one_level_deep_folders_first(place, reader):
    fill(place, {f"many/{number:03}.md": "" for number in range(MOST_LISTED + 5)} | {"a.md": ""})
    assert reader.list().lines == ("many/", "a.md")
    listing = reader.list("many")
    assert (len(listing.lines), listing.more) == (MOST_LISTED, 5)


@pytest.mark.parametrize(
    ("folder", "error"), [("nowhere", NotFoundError), ("ideas.md", InvalidError)]
)
def test_what_is_no_folder_is_not_listed(place, reader, folder, error):
    fill(place, {"ideas.md": ""})
    with pytest.raises(error):
        reader.list(folder)


@pytest.mark.parametrize("folder", ["", "/", ".", "./", "vault", "Vault", "vault:", "*", " "])
def test_what_models_write_for_the_whole_vault_is_that(place, reader, folder):
    fill(place, {"notes/today.md": "milk"})
    assert reader.list(folder).lines == ("notes/", "notes/today.md")


def test_a_folder_called_vault_goes_first(place, reader):
    fill(place, {"vault/x.md": "", "y.md": ""})
    assert reader.list("vault").lines == ("vault/x.md",)


def test_the_folders_there_are_are_named_when_one_is_missing(place, reader):
    fill(place, {"notes/today.md": "", "projects/x.md": ""})
    with pytest.raises(NotFoundError, match="There is no folder notez") as caught:
        reader.list("notez")
    assert caught.value.hint == "The folders in the vault are notes, projects."
