"""What the console draws: read back as text, without a screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.console.lines import TranscriptLines
from actors.console.render import plain_text, status_line, transcript
from actors.console.view import (
    Attached,
    Noted,
    ThoughtToggled,
    ToolsToggled,
    Typed,
    empty,
    status_of,
    update,
)
from eris.terminal_text import harmless
from proto.orchestrator import SessionSnapshot, ToolCallView, TurnState, TurnView


def turn(message="", state=TurnState.DONE, name="t1", text="question", **fields):
    return TurnView(turn=name, text=text, state=state, surface="cli.1", message=message, **fields)


def view_of(*turns, events=()):
    view = update(empty("main"), SessionSnapshot(session="main", turns=turns))
    for event in events:
        view = update(view, event)
    return view


def drawn(view, width=80):
    return "".join(plain_text(make(), width) for _, make in transcript(view))


def call(**fields):
    defaults = {"call_id": "c", "tool": "vault:write", "arguments": '{"path": "x.md"}'}
    return ToolCallView(**(defaults | {"state": "ok"} | fields))


STATES = [
    (turn("the answer"), ["> question", "the answer"]),
    (turn(state=TurnState.RUNNING), ["…"]),
    (turn("so far", state=TurnState.RUNNING), ["so far", "…"]),
    (turn(state=TurnState.QUEUED), ["queued, 0 in front"]),
    (turn("because", state=TurnState.FAILED), ["because"]),
    (turn("half", state=TurnState.CANCELLED), ["half", "cancelled"]),
    (turn("cut", truncated=True), ["cut", "generation.max_tokens"]),
    (turn("ok", thought="hmm"), ["thought, 3 characters"]),
    (turn("ok", recalled=("ann.md:3", "m1")), ["recalled: ann.md:3; m1", "ok"]),
    (turn("ok", notice="m2 will be forgotten"), ["ok", "m2 will be forgotten"]),
    (turn("ok", calls=(call(receipt="saved x.md"),)), ["✓ vault:write", "saved x.md"]),
    (turn("ok", calls=(call(state="running"),)), ["… vault:write"]),
    (turn("ok", calls=(call(state="failed", content="no such note"),)), ["✗", "no such note"]),
]


@pytest.mark.parametrize(("shown", "words"), STATES)
def test_a_turn_is_drawn_in_every_state(shown, words):
    text = drawn(view_of(shown))
    for word in words:
        assert word in text


def test_the_thought_and_the_results_of_tools_can_be_unfolded():
    shown = turn("ok", thought="my plan", calls=(call(content="what the model was told"),))
    assert "my plan" not in drawn(view_of(shown))
    assert "what the model was told" not in drawn(view_of(shown))
    unfolded = drawn(view_of(shown, events=(ThoughtToggled(), ToolsToggled())))
    assert "my plan" in unfolded
    assert "what the model was told" in unfolded


def test_what_was_typed_is_shown_before_it_is_a_turn():
    assert "> hello" in drawn(view_of(events=(Typed("i", "hello"),)))


def test_an_empty_session_says_what_to_do():
    assert "/help" in drawn(view_of(events=(Attached(reached=True),)))


MARKDOWN = [
    ("**bold** and `code`", ["bold and code"], ["**", "`"]),
    ("[a link](http://example.org/x)", ["a link", "http://example.org/x"], ["]("]),
    ("![picture](http://evil/p.png?leak=1)", ["picture"], []),
    ("Use List<String> and <b>tags</b>.", ["List<String>", "<b>tags</b>"], []),
    ("[red]not markup[/red] [/] :smile:", ["[red]not markup[/red] [/] :smile:"], []),
    ("- one\n- two", ["one", "two"], []),
    ("| a | b |\n|---|---|\n| 1 | 2 |", ["a", "1"], ["|---|"]),
    ("```python\nprint(1)\n```", ["print(1)"], ["```"]),
]


@pytest.mark.parametrize(("message", "words", "gone"), MARKDOWN)
def test_an_answer_is_drawn_as_markdown_and_as_nothing_else(message, words, gone):
    text = drawn(view_of(turn(message)))
    for word in words:
        assert word in text
    for word in gone:
        assert word not in text


DANGEROUS = [
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x9b31m",
    "\x08\x08\x08hidden",
    "safe\u202eevil\u2066x\u2069",
    "a\rb",
    "[link=http://evil]x[/link]",
    "\x1b]8;;http://evil\x1b\\x\x1b]8;;\x1b\\",
    "\ud800",
]
FORBIDDEN = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))} - {"\n", "\t"} | set(
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


def everywhere(text):
    """A view with ``text`` in every place that somebody else fills."""
    calls = (
        call(tool=text, arguments=text, content=text, receipt=text, state="failed"),
        call(call_id="d", tool=text, arguments=text, receipt=text),
    )
    return view_of(
        turn(text, text=text, thought=text, calls=calls),
        turn(text, text=text, name="t2", state=TurnState.FAILED),
        events=(ThoughtToggled(), ToolsToggled(), Noted(text), Typed("i", text)),
    )


@pytest.mark.parametrize("text", DANGEROUS)
def test_no_control_character_reaches_the_terminal(text):
    assert not FORBIDDEN & set(drawn(everywhere(text)))


@given(st.text(max_size=40))
def test_nothing_at_all_reaches_the_terminal_as_a_command(text):
    assert not FORBIDDEN & set(drawn(everywhere(text)))


@given(st.text(max_size=20), st.text(max_size=20))
def test_text_in_pieces_is_made_harmless_like_the_whole(one, two):
    assert harmless(one) + harmless(two) == harmless(one + two)


@given(st.text(max_size=20))
def test_harmless_text_stays_as_it_is(text):
    assert harmless(harmless(text)) == harmless(text)


def test_ordinary_text_of_any_script_is_kept():
    text = "Grüße, שלום, 你好, नमस्ते, 🐙\n\ttab"
    assert harmless(text) == text


def flat(lines):
    return "\n".join("".join(fragment[1] for fragment in line) for line in lines)


@pytest.mark.parametrize("color", [True, False])
def test_the_lines_for_the_screen_say_the_same_as_the_plain_text(color):
    view = everywhere("some *text*")
    lines = TranscriptLines(color=color).render(view, 60)
    shown = [line.rstrip() for line in flat(lines).rstrip().splitlines()]
    assert shown == [line.rstrip() for line in drawn(view, 60).rstrip().splitlines()]


def test_only_what_changed_is_rendered_again(monkeypatch):
    rendered = []
    lines = TranscriptLines(color=False)
    make_lines = lines._lines
    monkeypatch.setattr(
        lines, "_lines", lambda part, width: rendered.append(1) or make_lines(part, width)
    )
    first, second = turn("one"), turn("two", name="t2", state=TurnState.RUNNING)
    lines.render(view_of(first, second), 80)
    assert len(rendered) == 2
    text = flat(lines.render(view_of(first, turn("two!", name="t2")), 80))
    assert len(rendered) == 3
    assert "one" in text
    assert "two!" in text
    lines.render(view_of(first, turn("two!", name="t2")), 40)
    assert len(rendered) == 5


@pytest.mark.parametrize("width", [1, 8, 20, 200])
def test_any_width_will_do(width):
    TranscriptLines(color=True).render(everywhere("word " * 50), width)


def test_the_status_line_says_when_the_session_cannot_be_reached():
    view = view_of(turn("x"))
    assert "reconnecting" in status_line(status_of(view))
    view = update(view, Attached(reached=True))
    assert "reconnecting" not in status_line(status_of(view))
