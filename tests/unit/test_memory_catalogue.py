"""The catalogue: opening it in any state, sources and their versions, search by words."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.memory.catalogue import (
    Catalogue,
    Source,
    day_number,
    folded_tags,
    folders_above,
    source_digest,
)
from actors.memory.chunking import Chunk
from actors.memory.points import Wanted
from eris.errors import NotFoundError
from proto.memory import Kind

IDS = itertools.count(1)


def opened(folder: Path) -> Catalogue:
    return Catalogue.open(folder / "catalogue.sqlite", lambda: f"id-{next(IDS)}")


def note(path: str, digest: str = "1", date: str = "") -> Source:
    return Source(key=f"note:{path}", kind=Kind.NOTE, path=path, digest=digest, date=date)


def document(digest: str = "1") -> Source:
    return Source(key="document:d1", kind=Kind.DOCUMENT, path="a.pdf", digest=digest)


def chunk(text: str, *tags: str) -> Chunk:
    return Chunk(text=text, header="Title", tags=tags)


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[Catalogue]:
    made = opened(tmp_path)
    yield made
    made.close()


def damage_header(file: Path) -> None:
    file.write_bytes(b"no database at all" * 100)


def damage_pages(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4096:-4096] = b"\xff" * (len(content) - 8192)
    file.write_bytes(content)


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("damage", [damage_header, damage_pages, empty, Path.unlink])
def test_a_damaged_catalogue_is_made_anew_with_another_id(tmp_path, damage) -> None:
    catalogue = opened(tmp_path)
    first = catalogue.id
    catalogue.offer(note("a.md"), [chunk("alpha")])
    catalogue.close()
    damage(tmp_path / "catalogue.sqlite")
    again = opened(tmp_path)
    assert again.id != first
    assert again.counts().chunks == 0
    assert again.offer(note("a.md"), [chunk("alpha")])
    again.close()


def test_it_is_there_after_a_restart(tmp_path) -> None:
    catalogue = opened(tmp_path)
    catalogue.offer(note("a.md"), [chunk("alpha")])
    catalogue.remember("feed", "change 17")
    first = catalogue.id
    catalogue.close()
    again = opened(tmp_path)
    assert (again.id, again.remembered("feed")) == (first, "change 17")
    assert again.digests(Kind.NOTE) == {"note:a.md": "1"}
    again.close()


def test_a_document_interrupted_while_it_grows_goes_on_at_the_next_page(tmp_path) -> None:
    catalogue = opened(tmp_path)
    assert catalogue.begin(document()) == 0
    catalogue.grow("document:d1", [(1, "one"), (2, "")], [chunk("one")])
    assert catalogue.texts("document:d1") == []
    catalogue.close()
    again = opened(tmp_path)
    assert again.begin(document()) == 2
    again.grow("document:d1", [(3, " three\n")], [chunk("three")])
    again.finish("document:d1")
    assert [entry.text for entry in again.texts("document:d1")] == ["one", "three"]
    assert [again.page("document:d1", page) for page in (1, 2, 3, 4)] == [
        "one",
        "",
        " three\n",
        None,
    ]
    assert again.pages("document:d1") == 3
    again.close()


def test_a_document_taken_in_anew_keeps_the_old_until_it_is_complete(catalogue) -> None:
    catalogue.offer(document("1"), [chunk("old")], [(1, "old")])
    catalogue.begin(document("2"))
    catalogue.grow("document:d1", [(1, "new")], [chunk("new")])
    assert catalogue.page("document:d1", 1) == "old"
    assert catalogue.words.search("old", Wanted(), 5)
    catalogue.begin(document("3"))
    with pytest.raises(NotFoundError):
        catalogue.grow("document:d2", [], [])
    catalogue.grow("document:d1", [(1, "newest")], [chunk("newest")])
    catalogue.finish("document:d1")
    assert catalogue.page("document:d1", 1) == "newest"
    assert not catalogue.words.search("old", Wanted(), 5)
    assert catalogue.counts().sources[Kind.DOCUMENT] == 1


def test_ids_are_never_used_twice(tmp_path) -> None:
    catalogue = opened(tmp_path)
    catalogue.offer(note("a.md"), [chunk("alpha")])
    (first,) = catalogue.texts("note:a.md")
    catalogue.gone("note:a.md")
    catalogue.close()
    again = opened(tmp_path)
    again.offer(note("a.md"), [chunk("alpha")])
    (second,) = again.texts("note:a.md")
    assert second.id > first.id
    again.close()


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("When do the GARDENS open?", ["garden"]),
        ("gardener", ["garden"]),
        ("Änderungen", ["german"]),
        ("aenderung", []),
        ("東京", ["tokyo"]),
        ("京都市", ["kyoto", "tokyo"]),
        ("Title", ["garden", "german", "kyoto", "number", "tokyo"]),
        ("room 4711", ["number"]),
        ("471", []),
        ('"AND" NEAR( * garden', ["garden"]),
        ("?!", []),
        ("", []),
    ],
)
def test_words_find_what_has_them(catalogue, question, found) -> None:
    texts = {
        "garden": "The garden opens at nine.",
        "german": "Die Änderung gilt.",
        "tokyo": "東京都に住んでいます",
        "kyoto": "京都市の地図",
        "number": "Locker 4711",
    }
    for name, text in texts.items():
        catalogue.offer(note(name), [chunk(text)])
    scored = catalogue.words.search(question, Wanted(), 10)
    entries = catalogue.entries([each.id for each in scored])
    assert sorted(entry.path for entry in entries.values()) == found


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(), ["Work/Plans/b.md", "a.md", "work/c.md"]),
        (Wanted(folder="work"), ["Work/Plans/b.md", "work/c.md"]),
        (Wanted(folder="work/plans"), ["Work/Plans/b.md"]),
        (Wanted(folder="wor"), []),
        (Wanted(tags=("project",)), ["Work/Plans/b.md", "a.md"]),
        (Wanted(tags=("project/eris",)), ["a.md"]),
        (Wanted(tags=("project", "later")), ["Work/Plans/b.md"]),
        (Wanted(first_day=day_number("2026-03-01")), ["Work/Plans/b.md"]),
        (Wanted(last_day=day_number("2026-02-28")), ["a.md"]),
        (Wanted(source="note:a.md"), ["a.md"]),
        (Wanted(kinds=(Kind.MEMORY,)), []),
    ],
)
def test_words_look_only_at_what_is_wanted(catalogue, wanted, found) -> None:
    catalogue.offer(note("a.md", date="2026-02-28"), [chunk("alpha", "Project/Eris")])
    catalogue.offer(
        note("Work/Plans/b.md", date="2026-03-01"), [chunk("alpha", "project", "Later")]
    )
    catalogue.offer(note("work/c.md"), [chunk("alpha")])
    scored = catalogue.words.search("alpha", wanted, 10)
    assert sorted(e.path for e in catalogue.entries([s.id for s in scored]).values()) == found


def test_coverage_weighs_rare_words_more(catalogue) -> None:
    for number in range(20):
        catalogue.offer(note(f"{number}.md"), [chunk("the boat")])
    catalogue.offer(note("k.md"), [chunk("the Kestrel")])
    entries = [*catalogue.texts("note:k.md"), *catalogue.texts("note:1.md")]
    rare, common = catalogue.words.coverage("the kestrel boat", entries).values()
    assert 1 > rare > common > 0
    assert catalogue.words.coverage("?", entries) == {entry.id: 0.0 for entry in entries}


@pytest.mark.parametrize(
    ("function", "given", "made"),
    [
        (folders_above, "A/Straße/c.md", ("a", "a/straße")),
        (folders_above, "c.md", ()),
        (folded_tags, ("#Work/Eris", "work", "x/"), ("work", "work/eris", "x")),
        (day_number, "1970-01-02", 1),
        (day_number, "2026-05-31T10:00:00+02:00", 20604),
        (day_number, "yesterday", 0),
        (day_number, "", 0),
        (day_number, "1950-01-01", 0),
    ],
)
def test_paths_tags_and_days(function, given, made) -> None:
    assert function(given) == made


def test_the_digest_changes_with_content_and_with_chunking() -> None:
    digests = {source_digest(b"a", "1"), source_digest(b"a", "2"), source_digest(b"b", "1")}
    assert len(digests) == 3
