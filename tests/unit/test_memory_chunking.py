"""Notes, pages and turns in pieces: nothing lost or doubled, nothing cut that belongs together."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.memory.chunking import Chunk, chunk_note, chunk_page, chunk_turn

_TOKEN = re.compile(r"[\u3000-\u9fff\uff00-\uffef]|[^\W\u3000-\u9fff\uff00-\uffef]{1,6}|[^\w\s]")


def count(texts: Sequence[str]) -> list[int]:
    """Tokens as of a WordPiece tokenizer: parts of words, marks, and two special ones."""
    return [len(_TOKEN.findall(text)) + 2 for text in texts]


def chunks_of(text: str, limit: int = 40, path: str = "N.md") -> tuple[Chunk, ...]:
    return chunk_note(path, text, count, limit).chunks


def texts_of(text: str, limit: int = 40) -> list[str]:
    return [chunk.text for chunk in chunks_of(text, limit)]


def words(number: int, name: str = "w") -> str:
    return " ".join(f"{name}{n}" for n in range(number))


LINE = st.one_of(
    st.sampled_from(
        [
            "", "", "", "# Top", "## Under", "### Deep", "Title\n---", "---", "> quoted", ">",
            "- item one", "- item two", "  - nested item", "  more of it", "1. first", "- [ ] task",
            "```", "```py\ncode = 1\n\nmore = 2\n```", "    indented code", "$$\nx\n$$",
            "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", "| loose | row |", "<div>html",
            "</div>", "A short one.", "See [[Other|shown]] and #tag.", "漢字の文。もう一つの文。",
            "Text with a ^block-id", "It is 3. Mai today, z.B. here.", "x\ty", "\u2028 odd",
        ]
    ),
    st.integers(1, 60).map(lambda n: " ".join(["word", "word.", "word"][i % 3] for i in range(n))),
    st.integers(20, 200).map(lambda n: "字" * n),
    st.integers(20, 200).map(lambda n: "x" * n),
)  # fmt: skip
NOTES = st.tuples(st.lists(LINE, max_size=25), st.sampled_from(["\n", "\r\n"]), st.booleans()).map(
    lambda parts: ("---\ntags: [a]\n---\n" * parts[2] + "\n".join(parts[0])).replace("\n", parts[1])
)


def visible(text: str) -> str:
    return "".join(text.split())


@given(NOTES, st.sampled_from([12, 40, 200]))
def test_chunks_are_the_note_cut_once_with_exact_lines(text: str, limit: int) -> None:
    chunks = chunks_of(text, limit)
    lines = re.split(r"\r\n|\n", text)
    body = re.sub(r"\A---\r?\ntags: \[a\]\r?\n---\r?\n", "", text)
    place = 0
    for chunk in chunks:
        found = body.find(chunk.text, place)
        assert found >= 0, "a chunk is written in the note, after the one before"
        assert not any(map(str.isalnum, body[place:found])), "only blanks and rules are left out"
        place = found + len(chunk.text)
        there = "\n".join(lines[chunk.first_line - 1 : chunk.last_line])
        assert chunk.text.replace("\r\n", "\n") in there
        assert chunk.text.lstrip().startswith(lines[chunk.first_line - 1].split()[0][:1]) or (
            visible(chunk.text)[:1] in lines[chunk.first_line - 1]
        )
        assert visible(chunk.text)[-1] in lines[chunk.last_line - 1]
    assert not any(map(str.isalnum, body[place:]))


@given(NOTES, st.sampled_from([24, 40, 200]))
def test_no_chunk_exceeds_the_limit_with_its_header(text: str, limit: int) -> None:
    note = chunk_note("Folder/A rather long name of a note.md", text, count, limit)
    special = count([""])[0]
    for chunk, tokens in zip(note.chunks, count([c.embedded for c in note.chunks]), strict=True):
        assert tokens - special <= limit, chunk


@pytest.mark.parametrize(
    ("kept", "around"),
    [
        ("```py\na = 1\n\nb = 2\n\nc = 3\n```", "code"),
        ("| a | b |\n|---|---|\n| one two three | four five |", "table"),
        ("- an item that goes on\n  with a second line\n\n  and a paragraph", "item"),
        ("> [!note] A callout\n> with two lines of text", "quote"),
        ("$$\na = b\n\nc = d\n$$", "formula"),
    ],
)
def test_what_belongs_together_is_in_one_chunk(kept: str, around: str) -> None:
    text = f"{words(25)}\n\n{kept}\n\n{words(25, 'v')}"
    assert any(kept in each for each in texts_of(text)), around


def test_tables_are_cut_between_rows_and_lists_between_items_of_the_outermost_list() -> None:
    rows = [f"| r{n} one two | three four five |" for n in range(9)]
    table = "| a | b |\n|---|---|\n" + "\n".join(rows)
    for each in texts_of(table):
        assert all(line in table.split("\n") for line in each.split("\n"))
    items = [f"- item {n} of many\n  - its part {n}" for n in range(9)]
    found = texts_of("\n".join(items))
    assert len(found) > 1
    assert all(each.startswith("- item") for each in found)


def test_long_paragraphs_are_cut_between_sentences_only() -> None:
    sentences = [
        "We met Dr. Who on 3. Mai in the old house.",
        "It was z.B. cold and wet, and nobody came.",
        "„Gut.“ And then?",
        "He said it costs 3.50 today!",
        "J. S. Bach wrote it for the queen of the north.",
        "Was the end near?",
    ]
    for limit in (24, 40, 60):
        for each in texts_of(" ".join(sentences), limit):
            rest = each
            for sentence in sentences:
                rest = rest.replace(sentence, "").strip()
            assert rest in {"", "„Gut.“", "And then?"}, each


def test_chinese_and_japanese_are_cut_between_sentences() -> None:
    text = "今日は良い天気です。" * 10 + "“你好。”他说。" * 5
    found = texts_of(text)
    assert len(found) > 2
    assert all(each.endswith(("。", "”")) for each in found)
    assert "".join(found) == text


def test_small_sections_share_a_chunk_and_large_ones_do_not_mix_with_the_next() -> None:
    small = "# Day\n\n## Nine\nCoffee.\n\n## Ten\nTea.\n\n## Eleven\nWater."
    [chunk] = chunks_of(small)
    assert chunk.heading == "Day"
    large = f"# A\n\n{words(30)}\n\n{words(30, 'v')}\n\n# B\n\nshort"
    assert [chunk.heading for chunk in chunks_of(large)][-1] == "B"
    assert chunks_of(large)[-1].text == "# B\n\nshort"


def test_a_heading_stays_with_what_it_is_above() -> None:
    text = f"{words(30)}\n\n# Head\n\n## Under\n\n{words(100, 'v')}"
    found = texts_of(text)
    assert found[1].startswith("# Head\n\n## Under\n\nv0")


def test_headings_above_a_chunk_are_in_its_header_and_not_twice() -> None:
    text = f"# Ship\n\n## Crew\n\n{words(20)}\n\n{words(20, 'v')}"
    first, second = chunks_of(text, 40, "logs/Ship.md")
    assert (first.header, first.heading) == ("Ship", "Ship > Crew")
    assert (second.header, second.heading) == ("Ship > Crew", "Ship > Crew")
    assert second.embedded == f"Ship > Crew\n{second.text}"


def test_frontmatter_is_no_text_but_its_names_are_in_the_header() -> None:
    text = (
        "---\ntitle: The plan\naliases: [Scheme]\ntags: [work/eris, x]\ncreated: 2024-05-01 10:00\n"
        "secret: hidden\n---\nBody #inline text.\n"
    )
    note = chunk_note("a/Plan.md", text, count)
    [chunk] = note.chunks
    assert chunk.text == "Body #inline text."
    assert (chunk.first_line, chunk.last_line) == (8, 8)
    assert chunk.header == "The plan, tags: work/eris, x, 2024-05-01, also: Scheme"
    assert note.title == "The plan"
    assert note.tags == chunk.tags == ("work/eris", "x", "inline")


@pytest.mark.parametrize(
    ("path", "properties", "date"),
    [
        ("Daily/2024-05-01.md", "", "2024-05-01"),
        ("2024-05-01 Meeting.md", "", "2024-05-01"),
        ("2024-05-01.md", "date: 2023-01-02", "2023-01-02"),
        ("x.md", "created: 2023-01-02T10:00:00", "2023-01-02"),
        ("x.md", "Date: '2023-01-02'", "2023-01-02"),
        ("x.md", "date: soon", ""),
        ("2024-13-41.md", "", ""),
        ("x.md", "date: [a, b]", ""),
    ],
)
def test_the_day_that_a_note_is_of(path: str, properties: str, date: str) -> None:
    text = f"---\n{properties}\n---\ntext" if properties else "text"
    assert chunk_note(path, text, count).date == date


def test_comments_are_not_text() -> None:
    text = "Seen %%unseen%% words.\n\n%%\nunseen\n\nunseen\n%%\n\n"
    text += "More <!-- unseen --> text.\n\n%%unseen"
    chunks = chunks_of(text)
    assert "unseen" not in " ".join(chunk.text for chunk in chunks)
    assert [word for chunk in chunks for word in chunk.text.split()] == [
        "Seen", "words.", "More", "text.",
    ]  # fmt: skip
    assert "%%not a comment%%" in texts_of("`%%not a comment%%` in code")[0]


def test_the_history_of_a_memory_is_not_recalled() -> None:
    text = "# Tea\n\nBlack.\n\n## History\n\nGreen.\n\n### Older\n\nNone.\n\n## Notes\n\nHot."
    memory = chunk_note("Tea.md", f"---\neris_memory: m7\n---\n{text}", count)
    assert memory.memory_id == "m7"
    said = " ".join(chunk.text for chunk in memory.chunks)
    assert "Black." in said
    assert "Hot." in said
    assert "Green" not in said
    assert "None" not in said
    ordinary = chunk_note("Tea.md", text, count)
    assert ordinary.memory_id == ""
    assert "Green" in " ".join(chunk.text for chunk in ordinary.chunks)


@pytest.mark.parametrize(
    "text", ["", "\n\n", "---\ntitle: x\n---\n", "---", "%%all hidden%%", "---\nbroken: [\n---\n"]
)
def test_a_note_that_says_nothing_has_no_chunks(text: str) -> None:
    assert chunks_of(text) == ()


def test_a_header_never_crowds_out_the_text() -> None:
    tags = ", ".join(f"tag{n}" for n in range(50))
    text = f"---\ntags: [{tags}]\n---\n# {words(60, 'h')}\n\n{words(90)}"
    chunks = chunks_of(text, 40, f"{words(40, 'title')}.md")
    assert max(count([chunk.header for chunk in chunks])) <= 40 // 3 + 2
    assert len(chunks) < 15


@pytest.mark.parametrize(
    "unit", ["word. ", "- x\n", "漢", "x", "# h\n", "| a | b |\n", "```\n", "%%a%% b\n", "> - q\n"]
)
def test_work_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    def asked(text: str) -> int:
        characters = 0

        def counting(texts: Sequence[str]) -> list[int]:
            nonlocal characters
            characters += sum(map(len, texts))
            return count(texts)

        chunk_note("n.md", text, counting, 40)
        return characters

    short, long = asked(unit * 300), asked(unit * 3000)
    assert long < 14 * max(short, 1000)


def test_a_page_is_cut_at_paragraphs_then_sentences_and_keeps_its_number() -> None:
    text = f"{words(10)}.\n\nOne line\nand the next. {words(50, 'v')}."
    chunks = chunk_page("The book", 7, text, count, 40)
    assert {chunk.page for chunk in chunks} == {7}
    assert chunks[0].header == "The book, page 7"
    assert "".join(visible(chunk.text) for chunk in chunks) == visible(text)
    assert chunk_page("The book", 8, " \n\n ", count) == []


def test_a_turn_is_one_chunk_with_what_both_said() -> None:
    [chunk] = chunk_turn("When is it?", "On Monday.", "2024-05-01", count)
    assert chunk.text == "User: When is it?\n\nEris: On Monday."
    assert chunk.header == "Conversation, 2024-05-01"
    assert len(chunk_turn("Tell me.", words(300), "2024-05-01", count, 100)) > 2
    assert chunk_turn("", "  ", "2024-05-01", count) == []
