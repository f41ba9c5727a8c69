"""How one turn is told in plain lines, as it's written and when it has ended."""

import io
import json

import msgspec
import pytest

from eris.answer_printer import AnswerPrinter
from eris.cli.ask import document_of, exit_code_of
from eris.cli.first_run import account_of
from proto.inference import ModelDescription
from proto.orchestrator import ToolCallView, TurnState, TurnView, Usage


def turn(message="", state=TurnState.RUNNING, **fields):
    return TurnView(turn="t1", text="q", state=state, surface="cli.1", message=message, **fields)


def call(**fields):
    defaults = {"call_id": "c", "tool": "vault:write", "arguments": '{"path": "x.md"}'}
    return ToolCallView(**(defaults | {"state": "ok"} | fields))


def told(messages, last, *, streaming):
    out, notes = io.StringIO(), io.StringIO()
    printer = AnswerPrinter(out, notes, streaming=streaming)
    for message in messages:
        printer.show(turn(message))
    printer.show(last)
    printer.finish(last)
    return out.getvalue(), notes.getvalue()


DONE = turn("one two", TurnState.DONE)
WRITTEN = [
    # What was seen on the way; the end; standard output, streamed and not.
    (["", "one", "one two"], DONE, "one two\n", "one two\n"),
    ([], DONE, "one two\n", "one two\n"),
    (["one two\n"], turn("one two\n", TurnState.DONE), "one two\n", "one two\n"),
    (["first try", "one"], DONE, "first try\none two\n", "one two\n"),
    (["half"], turn("why", TurnState.FAILED, error="model"), "half\n", ""),
]


@pytest.mark.parametrize(("messages", "last", "streamed", "whole"), WRITTEN)
def test_an_answer_is_written_as_it_comes_or_at_once(messages, last, streamed, whole):
    assert told(messages, last, streaming=False)[0] == whole
    if last.state is TurnState.DONE:
        assert told(messages, last, streaming=True)[0] == streamed


NOTES = [
    (turn("ok", TurnState.DONE, calls=(call(receipt="saved x.md"),)), "[vault:write] saved x.md\n"),
    (
        turn("ok", TurnState.DONE, calls=(call(state="failed", content="full"),)),
        "[vault:write] failed: full\n",
    ),
    (turn("ok", TurnState.DONE, calls=(call(content="text"),)), ""),
    (turn("it broke", TurnState.FAILED), "it broke\n"),
    (turn("", TurnState.CANCELLED), "The turn was cancelled.\n"),
    (turn("ok", TurnState.DONE, notice="m2 will be forgotten"), "[m2 will be forgotten]\n"),
    (
        turn("ok", TurnState.DONE, truncated=True),
        "[the answer was cut by generation.max_tokens]\n",
    ),
]


@pytest.mark.parametrize(("last", "notes"), NOTES)
def test_receipts_and_failures_are_told_beside_the_answer(last, notes):
    assert told([], last, streaming=False)[1] == notes


@pytest.mark.parametrize(
    ("state", "code"),
    [(TurnState.DONE, 0), (TurnState.FAILED, 1), (TurnState.CANCELLED, 130)],
)
def test_the_exit_code_tells_how_the_turn_ended(state, code):
    assert exit_code_of(turn("", state)) == code


def test_arguments_that_are_no_json_are_passed_on_as_text():
    last = turn("", TurnState.FAILED, error="schema", calls=(call(arguments="{broken"),))
    document = json.loads(msgspec.json.encode(document_of(last, "main")))
    assert document["tool_calls"][0]["arguments"] == "{broken"
    assert document["error"]["type"] == "schema"
    assert document["ok"] is False


MODEL = ModelDescription(
    name="small",
    path="/models/small.gguf",
    context_length=4096,
    trained_context_length=8192,
    vocabulary=1,
    parameters=1,
    size_bytes=1,
    threads=1,
    load_seconds=0.5,
    template="gguf",
)


def test_the_account_of_a_turn_names_what_each_process_did():
    usage = Usage(
        prompt=120,
        cached=100,
        prefilled=20,
        generated=30,
        forced=15,
        rounds=2,
        recoveries=1,
        segments={"identity": 100, "user": 20},
        decode_ms=1000,
    )
    view = turn(
        "Saved.",
        TurnState.DONE,
        thought="plan",
        offered=("vault:write",),
        calls=(call(receipt="saved x.md"),),
        usage=usage,
    )
    rows = account_of(view, MODEL, {"vault:write": "vault"})
    text = "\n".join(f"{process}: {words}" for process, words in rows)
    for words in (
        "router: found vault:write",
        "small, context of 4096 tokens",
        "120 tokens (identity 100, user 20)",
        "30 tokens, 15 of them forced",
        "30.0 tokens per second",
        'gatekeeper: vault:write {"path": "x.md"}',
        "vault: ok: saved x.md",
        "1 attempts to recover: Saved.",
    ):
        assert words in text


def test_the_account_of_a_turn_without_anything_is_told_too():
    rows = account_of(turn("No.", TurnState.FAILED), MODEL, {})
    assert ("router", "found nothing in 0 ms") in rows
