"""The labels of the questions about notes: they point at what they say they do."""

from collections import Counter

import pytest

from actors.memory.chunking import chunk_note
from tests.eval.recall_data import HELD, NONE, TUNE, VAULT, Place, Question, load, notes

QUESTIONS = load()
NOTES = dict(notes())
LARGEST_BOOKS = 300_000


def test_there_are_as_many_questions_as_said_and_half_of_each_sort_is_held_out() -> None:
    sizes = Counter((one.kind == NONE, one.split) for one in QUESTIONS)
    assert sizes[False, TUNE] + sizes[False, HELD] == 150
    assert abs(sizes[False, TUNE] - sizes[False, HELD]) <= 2
    assert sizes[True, TUNE] == sizes[True, HELD] == 15
    assert len({one.id for one in QUESTIONS}) == len({one.question for one in QUESTIONS}) == 180


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.id)
def test_the_answer_stands_in_the_lines_of_its_label(question: Question) -> None:
    assert bool(question.answers) == (question.kind != NONE)
    for answer in question.answers:
        lines = NOTES[answer.path].splitlines()
        assert 1 <= answer.first_line <= answer.last_line <= len(lines)
        labelled = lines[answer.first_line - 1 : answer.last_line]
        assert " ".join(answer.answer_text.split()) in " ".join(" ".join(labelled).split())


def test_every_label_can_be_reached_by_a_chunk() -> None:
    """A label in frontmatter, say, would be a question that no search can answer."""
    chunks = {
        path: [
            Place(path, chunk.first_line, chunk.last_line)
            for chunk in chunk_note(
                path, text, lambda texts: [len(one) // 3 for one in texts]
            ).chunks
        ]
        for path, text in NOTES.items()
    }
    unreachable = [
        one.id
        for one in QUESTIONS
        if not all(any(a.overlaps(c) for c in chunks[a.path]) for a in one.answers)
    ]
    assert unreachable == []


def test_a_hit_counts_by_path_and_common_line() -> None:
    question = Question("x", "?", "exact", "en", TUNE, (Place("a.md", 3, 4), Place("b.md", 1, 1)))
    assert question.rank([Place("a.md", 1, 2), Place("c.md", 3, 4), Place("a.md", 4, 9)]) == 3
    assert question.rank([Place("b.md", 1, 1), Place("a.md", 3, 4)]) == 1
    assert question.rank([Place("a.md", 5, 6)]) == 0


def test_the_old_texts_stay_small_and_each_is_named_with_its_source() -> None:
    books = sorted((VAULT / "Books" / "Classics").glob("*.md"))
    assert 0 < sum(file.stat().st_size for file in books) <= LARGEST_BOOKS
    sources = (VAULT.parent / "SOURCES.md").read_text("utf-8")
    assert [file.stem for file in books if file.stem not in sources] == []
