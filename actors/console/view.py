"""Everything the console shows, as one value, and how it changes; pure.

What the orchestrator says is folded by `eris.conversation`; here is what belongs to one console:
what was typed and isn't a turn yet, notes, what is folded away, whether the system can be reached.
"""

from enum import StrEnum

import msgspec

from eris.conversation import Conversation, SessionEvent, fold
from eris.reminding import UNANSWERED
from proto.agenda import ReminderView
from proto.orchestrator import (
    CallChanged,
    MessageDelta,
    Progress,
    SessionSnapshot,
    ThoughtDelta,
    TurnChanged,
    TurnView,
)
from proto.supervisor import StatusReport

NOTES_KEPT = 50
"""Older notes and reminders are forgotten here; the conversation itself is the orchestrator's, and
reminders are the agenda's."""

REMINDER_MARK = "⏰"


class Tone(StrEnum):
    """How a note is shown."""

    PLAIN = "plain"
    """The answer to a slash command."""
    ERROR = "error"


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Something that this console says; the other surfaces don't see it."""

    text: str
    tone: Tone = Tone.PLAIN
    after: str = ""
    """Id of the turn below which it's shown; empty for above all turns."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A reminder that was shown here."""

    reminder: ReminderView
    after: str = ""
    """Id of the turn below which it's shown; empty for above all turns."""
    gone: bool = False
    """It was answered while nobody here heard it."""

    @property
    def waits(self) -> bool:
        """Whether nobody has answered it, as far as it's known."""
        return not self.gone and self.reminder.state in UNANSWERED


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was typed here and isn't among the session's turns yet."""

    idem: str
    text: str
    turn: str = ""
    """Its turn, once it was accepted."""


class Attached(msgspec.Struct, frozen=True):
    """The session can be reached, or can't any more."""

    reached: bool


class Noted(msgspec.Struct, frozen=True):
    """Something to say on this console."""

    text: str
    tone: Tone = Tone.PLAIN


class Typed(msgspec.Struct, frozen=True):
    """A message was typed and is on its way."""

    idem: str
    text: str


class Accepted(msgspec.Struct, frozen=True):
    """The message is a turn now."""

    idem: str
    turn: str


class Refused(msgspec.Struct, frozen=True):
    """The message didn't become a turn."""

    idem: str
    reason: str


class StatusCame(msgspec.Struct, frozen=True):
    """The supervisor's report; None if it can't be reached."""

    report: StatusReport | None


class ThoughtToggled(msgspec.Struct, frozen=True):
    """Show or hide what the model thought."""


class ToolsToggled(msgspec.Struct, frozen=True):
    """Show or hide arguments and results of tool calls."""


class SessionJoined(msgspec.Struct, frozen=True):
    """Another session is shown from now on."""

    session: str


class Reminded(msgspec.Struct, frozen=True):
    """A reminder is to be shown, or one that was is different now."""

    reminder: ReminderView


class ReminderGone(msgspec.Struct, frozen=True):
    """A reminder was answered, it isn't known how."""

    occurrence: str


class Acted(msgspec.Struct, frozen=True):
    """The user has sent a message or a command."""


LocalEvent = (
    Attached
    | Noted
    | Typed
    | Accepted
    | Refused
    | StatusCame
    | ThoughtToggled
    | ToolsToggled
    | SessionJoined
    | Reminded
    | ReminderGone
    | Acted
)
Event = SessionEvent | LocalEvent


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What a console shows."""

    conversation: Conversation
    reached: bool = False
    """Whether the session's events arrive."""
    ever_reached: bool = False
    pending: tuple[Pending, ...] = ()
    notes: tuple[Note | Shown, ...] = ()
    """Notes and reminders, as they came."""
    offered: tuple[str, ...] = ()
    """Reminders that an answer without an id could mean: those that were waiting here when the user
    last acted, and all that came since, answered meanwhile or not."""
    show_thought: bool = False
    show_tools: bool = False
    report: StatusReport | None = None

    @property
    def reminders(self) -> tuple[Shown, ...]:
        """The reminders that were shown here."""
        return tuple(each for each in self.notes if isinstance(each, Shown))


def empty(session: str) -> View:
    """Return the view of a session of which nothing is known yet."""
    return View(conversation=Conversation(session=session))


def update(view: View, event: Event) -> View:
    """Return the view after an event."""
    match event:
        case (
            SessionSnapshot()
            | TurnChanged()
            | ThoughtDelta()
            | MessageDelta()
            | CallChanged()
            | Progress()
        ):
            return _follow(view, event)
        case SessionJoined(session=session):
            kept = {"show_thought", "show_tools", "report", "offered"}
            kept_fields = {name: getattr(view, name) for name in kept}
            return _replace(empty(session), notes=view.reminders, **kept_fields)
        case Noted() | Typed() | Accepted() | Refused():
            return _say(view, event)
        case Reminded() | ReminderGone() | Acted():
            return _remind(view, event)
        case _:
            return _replace(view, **_seen(view, event))


def _follow(view: View, event: SessionEvent) -> View:
    """What happened in the session; a message that has become a turn is no longer pending."""
    conversation = fold(view.conversation, event)
    turns = {turn.turn for turn in conversation.turns}
    pending = tuple(one for one in view.pending if one.turn not in turns)
    return _replace(view, conversation=conversation, pending=pending)


def _remind(view: View, event: Reminded | ReminderGone | Acted) -> View:
    """What concerns reminders."""
    match event:
        case Acted():
            waiting = tuple(one.reminder.occurrence for one in view.reminders if one.waits)
            return _replace(view, offered=waiting)
        case ReminderGone(occurrence=occurrence):
            return _change_reminder(view, occurrence, gone=True)
        case Reminded(reminder=reminder):
            return _put_reminder(view, reminder)


def _put_reminder(view: View, reminder: ReminderView) -> View:
    name = reminder.occurrence
    if any(one.reminder.occurrence == name for one in view.reminders):
        return _change_reminder(view, name, reminder=reminder)
    shown = Shown(reminder=reminder, after=_last_turn(view))
    return _replace(
        view,
        notes=(*view.notes, shown)[-NOTES_KEPT:],
        offered=(*view.offered, name)[-NOTES_KEPT:],
    )


def _change_reminder(view: View, occurrence: str, **changes: object) -> View:
    return _replace(
        view,
        notes=tuple(
            msgspec.structs.replace(each, **changes)
            if isinstance(each, Shown) and each.reminder.occurrence == occurrence
            else each
            for each in view.notes
        ),
    )


def _last_turn(view: View) -> str:
    turns = view.conversation.turns
    return turns[-1].turn if turns else ""


def _seen(
    view: View, event: Attached | StatusCame | ThoughtToggled | ToolsToggled
) -> dict[str, object]:
    """What changes of how the session is seen."""
    match event:
        case Attached(reached=reached):
            return {"reached": reached, "ever_reached": view.ever_reached or reached}
        case StatusCame(report=report):
            return {"report": report}
        case ThoughtToggled():
            return {"show_thought": not view.show_thought}
        case ToolsToggled():
            return {"show_tools": not view.show_tools}


def _say(view: View, event: Noted | Typed | Accepted | Refused) -> View:
    """What concerns the messages and notes of this console."""
    match event:
        case Noted(text=text, tone=tone):
            return _note(view, text, tone)
        case Typed(idem=idem, text=text):
            return _replace(view, pending=(*view.pending, Pending(idem=idem, text=text)))
        case Accepted(idem=idem, turn=turn):
            if view.conversation.find(turn) is not None:
                return _forget(view, idem)
            return _replace(
                view,
                pending=tuple(
                    msgspec.structs.replace(one, turn=turn) if one.idem == idem else one
                    for one in view.pending
                ),
            )
        case Refused(idem=idem, reason=reason):
            return _note(_forget(view, idem), reason, Tone.ERROR)


def _forget(view: View, idem: str) -> View:
    return _replace(view, pending=tuple(one for one in view.pending if one.idem != idem))


def _note(view: View, text: str, tone: Tone) -> View:
    note = Note(text=text, tone=tone, after=_last_turn(view))
    return _replace(view, notes=(*view.notes, note)[-NOTES_KEPT:])


def _replace(view: View, **changes: object) -> View:
    return msgspec.structs.replace(view, **changes)


def notes_after(view: View) -> dict[str, list[Note | Shown]]:
    """Return notes and reminders by the turn that they stand below.

    Those of forgotten turns are on top.
    """
    known = {turn.turn for turn in view.conversation.turns}
    grouped: dict[str, list[Note | Shown]] = {}
    for each in view.notes:
        grouped.setdefault(each.after if each.after in known else "", []).append(each)
    return grouped


def answers_to(occurrence: str) -> str:
    """Return how a reminder is answered."""
    return f"/done {occurrence} · /snooze {occurrence} in 1 hour · /dismiss {occurrence}"


def place_in_queue(view: View, turn: TurnView) -> int:
    """Return how many unfinished turns are in front of a queued one."""
    queued = [one.turn for one in view.conversation.turns if one.state == "queued"]
    running = 1 if view.conversation.running is not None else 0
    return queued.index(turn.turn) + running if turn.turn in queued else 0


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What the status line says, before it's made text."""

    session: str
    reached: bool
    ready: int
    total: int
    """Actors; 0 if the supervisor can't be reached."""
    away: tuple[str, ...]
    """Names of the actors that aren't ready."""
    phase: str
    prompt_tokens: int
    generated_tokens: int
    tokens_per_second: float
    queued: int


def status_of(view: View) -> Status:
    """Return what the status line says."""
    conversation = view.conversation
    actors = view.report.actors if view.report is not None else ()
    away = tuple(actor.name for actor in actors if actor.state not in {"ready", "busy"})
    progress = conversation.progress
    running = conversation.running
    latest = running or next(
        (turn for turn in reversed(conversation.turns) if turn.usage.prompt), None
    )
    generated = latest.usage.generated if latest is not None else 0
    speed = 0.0
    if running is not None and progress is not None:
        generated += progress.tokens
        speed = progress.tokens_per_second
    elif latest is not None and latest.usage.decode_ms:
        speed = latest.usage.generated / latest.usage.decode_ms * 1000
    return Status(
        session=conversation.session,
        reached=view.reached,
        ready=len(actors) - len(away),
        total=len(actors),
        away=away,
        phase=progress.phase if running is not None and progress is not None else "",
        prompt_tokens=latest.usage.prompt if latest is not None else 0,
        generated_tokens=generated,
        tokens_per_second=speed,
        queued=conversation.queued + len(view.pending),
    )
