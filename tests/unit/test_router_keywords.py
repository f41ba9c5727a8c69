"""Tools found by words alone."""

import pytest

from actors.router.keywords import THRESHOLD, KeywordIndex, words

INDEX = KeywordIndex(
    [
        (
            "clock:now",
            "Tell the current local date and time.",
            ("What time is it?", "today's date"),
        ),
        ("vault:list", "List the notes of the user.", ("list my notes", "show all my files")),
        ("mail:send", "Send an email to somebody.", ("email Anna that I'm late", "send a mail")),
    ]
)


def found(text: str) -> list[str]:
    scores = INDEX.scores(text)
    good = [tool for tool, score in scores.items() if score >= THRESHOLD]
    return sorted(good, key=lambda tool: -scores[tool])


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("what time is it", "clock:now"),
        ("the date, please", "clock:now"),
        ("list notes", "vault:list"),
        ("show me my files", "vault:list"),
        ("send a mail", "mail:send"),
        ("emails", "mail:send"),
    ],
)
def test_shared_words_find_the_tool(text: str, tool: str) -> None:
    assert found(text)[:1] == [tool]


@pytest.mark.parametrize(
    "text",
    ["hello", "thanks!", "how are you?", "tell me a joke", "", "???", "it is what it is", "你好"],
)
def test_small_talk_finds_nothing(text: str) -> None:
    assert found(text) == []


def test_words_nobody_knows_speak_against_every_tool() -> None:
    short, long = "send a mail", "send a mail about quantum chromodynamics lectures"
    assert INDEX.scores(short)["mail:send"] > INDEX.scores(long)["mail:send"]


def test_scores_are_between_zero_and_one() -> None:
    scores = INDEX.scores("list my notes").values()
    assert all(0 <= score <= 1 for score in scores)


def test_an_index_without_tools_finds_nothing() -> None:
    assert KeywordIndex(()).scores("what time is it") == {}


@pytest.mark.parametrize(
    ("text", "meaningful"),
    [
        ("The notes, listed", ("note", "list")),
        ("Anna's diaries", ("anna", "diary")),
        ("vault:read", ("vault", "read")),
        ("glass class", ("glass", "class")),
    ],
)
def test_words_lose_common_endings(text: str, meaningful: tuple[str, ...]) -> None:
    assert words(text) == meaningful
