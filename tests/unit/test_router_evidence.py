"""What the words of a request say literally about the tools it needs."""

import pytest

from actors.router.evidence import evidence, folders, meant, references

TOOLS = ("vault:read", "vault:write", "vault:list", "vault:search", "clock:now")


def best(text: str, context: str = "", hints: tuple[tuple[str, str], ...] = ()) -> str:
    found = evidence(text, TOOLS, hints, context)
    return max(found, key=lambda tool: found[tool]) if found else ""


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("read ideas.md", ("ideas.md",)),
        ("look at notes/2026/today.md, please", ("notes/2026/today.md",)),
        ("Summarise [[Project Plan]].", ("[[Project Plan]]",)),
        ("Was steht in einkäufe/märz.md?", ("einkäufe/märz.md",)),
        ("compare a.md with b.md", ("a.md", "b.md")),
        ("see https://example.org/readme.md", ()),
        ("write to me at anna@home.md", ()),
        ("and/or maybe", ()),
        ("version 1.5 costs 3.50", ()),
    ],
)
def test_notes_are_recognised_by_their_names(text: str, named: tuple[str, ...]) -> None:
    assert references(text) == named


@pytest.mark.parametrize(
    ("text", "named"),
    [("what is in archive/?", ("archive/",)), ("he/she said", ()), ("http://a.b/c/", ())],
)
def test_folders_are_recognised_by_a_slash_at_the_end(text: str, named: tuple[str, ...]) -> None:
    assert folders(text) == named


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("read ideas.md", "vault:read"),
        ("ideas.md", "vault:read"),
        ("What does my note notes/today.md say?", "vault:read"),
        ("log.md", "vault:read"),
        ("Save a note in notes/today.md saying that I should buy milk", "vault:write"),
        ("log in journal/2026-12-01.md that I ran 5 km", "vault:write"),
        ("Speichere in notizen/heute.md, dass ich Milch kaufen soll", "vault:write"),
        ("jot this down: dentist on Monday", "vault:write"),
        ("note: the key is under the mat", "vault:write"),
        ("remember in my notes that Anna likes tulips", "vault:write"),
        ("list my notes", "vault:list"),
        ("Welche Notizen habe ich?", "vault:list"),
        ("what's in archive/?", "vault:list"),
        ("Search my notes for the tax number", "vault:search"),
        ("Which notes mention Anna?", "vault:search"),
        ("where did I write down the wifi password?", "vault:search"),
        ("What time is it?", "clock:now"),
        ("Wie spät ist es?", "clock:now"),
        ("use vault:search for me", "vault:search"),
    ],
)
def test_a_plain_command_has_its_tool(text: str, tool: str) -> None:
    assert best(text) == tool


MORE_TOOLS = (
    *TOOLS,
    *("memory:stage", "memory:forget", "memory:query", "memory:about_me", "doc:read", "doc:list"),
    *("vault:append", "vault:edit", "vault:move", "vault:delete", "vault:undo", "vault:links"),
    *(
        "vault:tasks",
        "vault:add_task",
        "vault:tick_task",
        "vault:daily",
        "vault:taglist",
        "vault:query",
        "skills:create",
    ),
)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("replace cats with dogs in pets.md", "vault:edit"),
        ("set the status of book.md to read", "vault:edit"),
        ("ersetze Hund durch Katze in tiere.md", "vault:edit"),
        ("put this under the section Ideas of garden.md", "vault:append"),
        ("rename ideas.md to thoughts.md", "vault:move"),
        ("delete draft.md", "vault:delete"),
        ("undo that", "vault:undo"),
        ("show backlinks of ideas.md", "vault:links"),
        ("which notes link to Hub?", "vault:links"),
        ("add the task repot the fern in home.md", "vault:add_task"),
        ("What are my open tasks?", "vault:tasks"),
        ("mark 'call mum' as done", "vault:tick_task"),
        ("what's in today's daily note?", "vault:daily"),
        ("list my tags", "vault:taglist"),
        ("notes with status = open", "vault:query"),
        ("make a skill for invoices", "skills:create"),
        ("read ideas.md", "vault:read"),
        ("add eggs to shopping.md", "vault:write"),
        ("what's in archive/?", "vault:list"),
        ("Please remember that Anna likes tulips", "memory:stage"),
        ("Merk dir, dass Anna Tulpen mag", "memory:stage"),
        ("don't forget: the key is under the mat", "memory:stage"),
        ("forget the alarm code", "memory:forget"),
        ("What do you know about Anna?", "memory:query"),
        ("Call me Robin", "memory:about_me"),
        ("read page 3 of the manual", "doc:read"),
        ("which documents do you have?", "doc:list"),
    ],
)
def test_a_plain_command_has_its_tool_among_many(text: str, tool: str) -> None:
    found = evidence(text, MORE_TOOLS)
    assert found[tool] == max(found.values())


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "thanks!",
        "how are you?",
        "tell me a joke",
        "Write me a poem about autumn",
        "What is the capital of France?",
        "I read a book yesterday",
        "do you remember me?",
        "he said 'list my notes' and laughed",
        "",
        " … ",
    ],
)
def test_conversation_is_evidence_for_nothing(text: str) -> None:
    assert evidence(text, TOOLS) == {}


@pytest.mark.parametrize(
    ("text", "named", "tool"),
    [
        ("Rename the note Kestrel buoy to Osprey buoy", "Kestrel buoy", "vault:move"),
        (
            'Add a task "call the diver" under Open questions in Kestrel',
            "Kestrel",
            "vault:add_task",
        ),
        ("Benenne Kestrel um", "Kestrel", "vault:move"),
        ("What does Adaeze Okafor say?", "Adaeze Okafor", "vault:read"),
        # The name's own words are no command.
        ("open the Move log", "Move log", "vault:read"),
    ],
)
def test_a_command_on_a_note_that_is_known_by_name_has_its_tool(text, named, tool) -> None:
    scores = evidence(text, MORE_TOOLS, notes=(named,))
    assert max(scores, key=scores.__getitem__) == tool


def test_a_name_without_a_command_asks_for_nothing() -> None:
    assert evidence("I met Adaeze Okafor today", MORE_TOOLS, notes=("Adaeze Okafor",)) == {}


def test_a_phrase_that_a_tool_gives_as_an_example_asks_for_it() -> None:
    hints = (("vault:list", "Inhalt zeigen"),)
    assert best("inhalt zeigen!", hints=hints) == "vault:list"


def test_only_registered_tools_are_found() -> None:
    assert evidence("read ideas.md and use mail:send", ("mail:read",)) == {}


def test_writing_to_a_note_offers_reading_it_too() -> None:
    found = evidence("add eggs to shopping.md", TOOLS)
    assert found["vault:write"] > found["vault:read"] > 0


@pytest.mark.parametrize(
    ("text", "context", "tool"),
    [
        ("what does it say?", "Save milk in notes/today.md", "vault:read"),
        ("add eggs to it", "read notes/today.md", "vault:write"),
        ("what does it say?", "hello", ""),
        ("that's great", "read notes/today.md", ""),
        ("thank you", "read notes/today.md", ""),
    ],
)
def test_a_command_that_points_back_borrows_the_note_of_the_turn_before(
    text: str, context: str, tool: str
) -> None:
    assert best(text, context) == tool


@pytest.mark.timeout(5)
@pytest.mark.parametrize("text", ["a/" * 20_000, "write " * 20_000, "[[" * 20_000, "'" * 20_000])
def test_long_texts_are_read_in_bounded_time(text: str) -> None:
    evidence(text, TOOLS)


@pytest.mark.parametrize(
    ("text", "daily"),
    [
        ("What does my note notes/today.md say?", False),
        ("What does daily.md say?", False),
        ("I feel a bit tired today", False),
        ("Open today's daily note.", True),
        ("Add to today\u2019s note: call Anna", True),
        ("Was steht in der heutigen Notiz?", True),
    ],
)
def test_the_daily_note_is_meant_only_if_it_is_said(text: str, daily: bool) -> None:
    assert meant(text, {"vault:read": 0.5, "vault:daily": 0.6}) == (
        {"vault:read": 0.5, "vault:daily": 0.6} if daily else {"vault:read": 0.5}
    )
