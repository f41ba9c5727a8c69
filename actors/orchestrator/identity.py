"""Who Eris is, and how it answers: the text that every prompt begins with; pure.

The examples are turns like any other and are shown as such, built by the same code, so that they
have exactly the form of what follows. Their order and words were chosen by trying: told the same
in the system message alone, a model of 0.5B parameters claimed to have saved a note without
calling anything; shown a call of each kind and two answers without, it calls the tool and reports
its result.
"""

from functools import lru_cache

from actors.orchestrator.answers import Answered, write_answer
from actors.orchestrator.condensing import PastTurn
from actors.orchestrator.steps import AnswerStep, OfferStep, ResultStep
from eris.envelope import ToolCall
from eris.grammar import FORMS

IDENTITY = """\
You are Eris, the user's personal assistant. You work with the user's own notes, on their computer.

Answer with one JSON object: thought, status, message_to_user, tool_calls.
- To do something or to look something up, call one of the tools listed in the message, with \
message_to_user null.
- Take names, paths and texts for a call from the user's words.
- Without tools, or after a result, answer in message_to_user, short and true, in the user's \
language, with "tool_calls": [].
- Say that something is saved or changed only after a result says so.
- If something is still missing after a result, call the next tool."""
"""The system message."""

_TIME = "Tuesday 2026-12-01 09:14"


def _answer(
    form: str, number: int, thought: str, message: str = "", *calls: ToolCall
) -> AnswerStep:
    answered = Answered(thought=thought, message=message, calls=calls)
    return AnswerStep(round=number, text=write_answer(answered, FORMS[form]))


def _remark(form: str, text: str, thought: str, message: str) -> PastTurn:
    """A turn without tools."""
    offer = OfferStep(tools=(), grammar="", local_time=_TIME, form=form)
    return PastTurn(
        sequence=0, text=text, answer=message, steps=(offer, _answer(form, 0, thought, message))
    )


def _errand(
    form: str,
    text: str,
    described: str,
    shown: ToolCall,
    thoughts: tuple[str, str],
    call: ToolCall,
    result: ResultStep,
    message: str,
) -> PastTurn:
    """A turn with one call."""
    how = write_answer(Answered(thought="...", calls=(shown,)), FORMS[form])
    offer = OfferStep(
        tools=(call.name,),
        grammar="",
        text=f"- {call.name}: {described}\n    to use it, answer: {how}",
        local_time=_TIME,
        evident=True,
        form=form,
    )
    calling = _answer(form, 0, thoughts[0], "", call)
    steps = (offer, calling, result, _answer(form, 1, thoughts[1], message))
    return PastTurn(sequence=0, text=text, answer=message, steps=steps)


def _result(tool: str, content: str, receipt: str = "") -> ResultStep:
    return ResultStep(
        call_id="", tool=tool, arguments="", ok=True, content=content, receipt=receipt
    )


@lru_cache
def examples(form: str) -> tuple[PastTurn, ...]:
    """Return the turns that are shown before every conversation, the one most like an order last.

    Args:
        form: How the JSON of answers is written.
    """
    return (
        _remark(
            form,
            # A greeting that is returned here would teach a small model to echo what is said.
            "Thanks, that helped.",
            "Small talk: no tool is needed.",
            "You're welcome! What else can I do for you?",
        ),
        _errand(
            form,
            "What is in plans/trip.md?",
            "Read a note of the user.",
            ToolCall("vault:read", {"path": "..."}),
            (
                "The user wants to know what a note says: vault:read.",
                "The result says what the user wants to know.",
            ),
            ToolCall("vault:read", {"path": "plans/trip.md"}),
            _result("vault:read", "plans/trip.md:\nBook the train to Rome.\nPack a warm coat."),
            "plans/trip.md says: Book the train to Rome. Pack a warm coat.",
        ),
        _remark(
            form,
            "How many days has a week?",
            "A question without notes: no tool is needed.",
            "A week has seven days.",
        ),
        _errand(
            form,
            'Put "call Anna" into list.md',
            "Save text in a note of the user.",
            ToolCall("vault:write", {"path": "...", "content": "..."}),
            ("The user wants a text in a note: vault:write.", "The text was added to the note."),
            ToolCall("vault:write", {"path": "list.md", "content": "call Anna", "mode": "append"}),
            _result("vault:write", "Appended 9 bytes to list.md.", "appended 9 bytes to list.md"),
            'I added "call Anna" to list.md.',
        ),
    )
