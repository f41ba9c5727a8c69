"""Messages of the agenda: tasks, reminders, alarms and timers, and what became of each.

An *item* is what was asked for; an *occurrence* is one time at which it's due, named `a7.2` for the
second one of item `a7`. Surfaces follow the topic ``reminders`` and report what they show;
programs that mirror the items follow ``agenda``. Tools of the model do the same through `CallTool`;
both end in the same code.
"""

from enum import StrEnum

import msgspec


class _Agenda(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """Base of the messages in this module."""


# Items.


class ItemKind(StrEnum):
    """What was asked for."""

    TASK = "task"
    """Something to do; with a time it's told of when it's due."""
    REMINDER = "reminder"
    """Tells the user something."""
    ALARM = "alarm"
    """The same, for a time of the day; sound and look are the surface's."""
    TIMER = "timer"
    """So much elapsed time: a change of the clock or the zone doesn't move it."""
    SELF = "self"
    """Has Eris itself do something: a turn of its own, with a plan and a checklist."""


class ItemState(StrEnum):
    """What became of an item."""

    OPEN = "open"
    DONE = "done"
    """Done, or told of for the last time and acknowledged."""
    REMOVED = "removed"


class Missed(StrEnum):
    """What happens to times that went by unnoticed, longer ago than the grace time."""

    SKIP = "skip"
    """None is told of; each is recorded as skipped."""
    ONCE = "once"
    """The latest is told of, with how late it is; those before are recorded as skipped."""
    EACH = "each"
    """Every one is told of, with how late it is."""


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """When, exactly: wall time and zone, so that rules follow the clocks of their zone."""

    start: str
    """Wall time, ISO 8601 without an offset, such as ``2027-03-03T09:30:00``; a date if `all_day`.
    For a rule it's DTSTART."""
    zone: str = ""
    """IANA name; empty floats with the user's own zone."""
    all_day: bool = False
    """Only a day: told of at the setting `agenda.default_time` of that day."""
    rule: str = ""
    """The value of an RRULE of RFC 5545, without the name; empty for once."""
    fold: int = 0
    """1 for the second of two equal wall times, when the clocks go back."""
    excluded: tuple[str, ...] = ()
    """Times of the rule that don't count, written as `start`: EXDATE."""
    also: tuple[str, ...] = ()
    """Times besides those of the rule, written as `start`: RDATE."""


class CheckItem(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a checklist."""

    text: str
    """One line."""
    done: bool = False


class ItemView(msgspec.Struct, frozen=True, kw_only=True):
    """One item."""

    id: str
    """Short and stable, such as ``a7``."""
    version: int
    """Counts up with each change, for comparing."""
    kind: ItemKind
    state: ItemState
    text: str
    """What it's about, one line."""
    said: str = ""
    """The words about time as they were said; empty for none, or if it was given exactly."""
    schedule: Schedule | None = None
    """None for a task without a time."""
    when: str = ""
    """The schedule in words: absolute local time with weekday and zone, or the rule."""
    next_due: float = 0
    """Seconds since the epoch; 0 if nothing more is due."""
    next_local: str = ""
    """The same in the user's zone, ISO 8601 with offset."""
    missed: Missed = Missed.ONCE
    grace_s: int = 0
    """Seconds of delay that don't count as missed."""
    plan: str = ""
    """For `ItemKind.SELF`: what to do, in words."""
    checklist: tuple[CheckItem, ...] = ()
    waiting: tuple[str, ...] = ()
    """Occurrences that were told of, or are to be, and aren't acknowledged."""
    source: str = ""
    """Where it's mirrored from, such as ``ical:<uid>`` or ``note:<path>#<task>``; empty for ours.
    No two open items have the same."""
    result: str = ""
    """What was said when it was done."""
    created: str = ""
    """Local time, ISO 8601 with offset."""
    changed: str = ""
    """The same, of the latest change."""


class AddItem(_Agenda, frozen=True, tag="agenda.add.1"):
    """Adds an item (reply: `AgendaChanged`)."""

    key: str
    """Idempotency key: repeating it returns the first result."""
    kind: ItemKind
    text: str
    """What it's about. If `when` and `schedule` are empty, words about time are looked for here."""
    when: str = ""
    """When, in words, or a rule of RFC 5545."""
    schedule: Schedule | None = None
    """When, exactly, instead of words. It may be in the past: then it's never told of."""
    missed: Missed | None = None
    """None for what suits the kind."""
    grace_s: int | None = None
    """Seconds; None for what suits the kind."""
    plan: str = ""
    checklist: tuple[CheckItem, ...] = ()
    source: str = ""
    """An open item with the same source is returned, not added twice."""
    as_it_is: bool = False
    """Whether words about time in `text` are words like any other."""


class ChangeItem(_Agenda, frozen=True, tag="agenda.change.1"):
    """Changes an open item; what is None stays (reply: `AgendaChanged`)."""

    key: str
    item: str
    """Id, such as ``a7``."""
    version: int = 0
    """The version that is to be changed; another one is a ``conflict``. 0 for any."""
    text: str | None = None
    when: str | None = None
    """New words; empty takes the time away."""
    schedule: Schedule | None = None
    missed: Missed | None = None
    grace_s: int | None = None
    plan: str | None = None
    checklist: tuple[CheckItem, ...] | None = None
    source: str | None = None


class ResolveKind(StrEnum):
    """What to do with an item or an occurrence."""

    DONE = "done"
    """It's done. Of a recurring item only the occurrence that waits, or the next one."""
    SNOOZE = "snooze"
    """Tell of it again, at another time."""
    DISMISS = "dismiss"
    """It was seen; a task stays open."""
    REMOVE = "remove"
    """Take the whole item away; its history stays."""


class ResolveItem(_Agenda, frozen=True, tag="agenda.resolve.1"):
    """Does something with an item or an occurrence (reply: `AgendaChanged`).

    Surfaces acknowledge by the id of the occurrence: one that isn't waiting any more is a
    ``conflict``, and nothing else is touched.
    """

    key: str
    item: str
    """Id of an occurrence (``a7.2``) or an item (``a7``), or words that fit one open item only."""
    action: ResolveKind
    when: str = ""
    """For `ResolveKind.SNOOZE`, in words; empty for the setting `agenda.snooze_minutes`."""
    result: str = ""
    """For `ResolveKind.DONE`: what came of it."""


class AgendaChanged(_Agenda, frozen=True, tag="agenda.changed.1"):
    """What an item is like now."""

    item: ItemView
    receipt: str
    """For people, in the past tense, with the absolute local time."""
    assumed: tuple[str, ...] = ()
    """What was assumed to get from words to a time, as sentences."""
    repeated: bool = False
    """Whether this was done before, under the same key or source."""


class ListItems(_Agenda, frozen=True, tag="agenda.list.1"):
    """Asks for items, those that are due next first (reply: `Items`)."""

    states: tuple[ItemState, ...] = (ItemState.OPEN,)
    kinds: tuple[ItemKind, ...] = ()
    """Empty for all."""
    query: str = ""
    """Words that the text must have."""
    limit: int = 100
    offset: int = 0


class Items(_Agenda, frozen=True, tag="agenda.items.1"):
    """Items."""

    items: tuple[ItemView, ...]
    total: int
    """How many there are, given or not."""


# Occurrences.


class OccurrenceState(StrEnum):
    """What became of one due time."""

    CLAIMED = "claimed"
    """Journalled, and about to act; after a crash it's taken up from here."""
    WAITING = "waiting"
    """Fired, and not seen on any surface yet."""
    SHOWN = "shown"
    """Seen on at least one surface, not acknowledged."""
    DONE = "done"
    SNOOZED = "snoozed"
    """Put off; another occurrence of the item takes its place."""
    DISMISSED = "dismissed"
    SKIPPED = "skipped"
    """Not told of; the reason is recorded."""


class DeliveryStep(StrEnum):
    """How far a surface got with an occurrence."""

    BEGAN = "began"
    """About to show it. If nothing more is heard, it's unknown whether it was seen."""
    SHOWN = "shown"
    FAILED = "failed"
    """It certainly wasn't shown; may be tried again."""


class ReminderView(msgspec.Struct, frozen=True, kw_only=True):
    """An occurrence as surfaces show it."""

    occurrence: str
    """Such as ``a7.2``: what an acknowledgement names."""
    item: str
    kind: ItemKind
    state: OccurrenceState
    text: str
    """What to tell the user."""
    due: float
    """Seconds since the epoch."""
    due_local: str
    """In words, in the user's zone: ``Monday, 7 December 2026, 09:00 (Europe/Berlin)``."""
    fired: float
    """When it was told of; seconds since the epoch."""
    late_s: int = 0
    """Seconds between the two, if more than a few."""
    late: str = ""
    """The same in words, such as ``2 hours late``; empty if it was in time."""
    answer: str = ""
    """What Eris did or proposes, for `ItemKind.SELF`; ``text`` is the label."""
    session: str = ""
    turn: str = ""
    """The turn that Eris had of its own, to look it up."""
    deliveries: dict[str, DeliveryStep] = {}
    """By surface. A surface that finds its own name here shows nothing again; `DeliveryStep.BEGAN`
    alone means that somebody may have seen it."""


DESKTOP = "desktop"
"""The surface that is a notification of the desktop: it passes by itself, so what it showed goes on
being `OccurrenceState.WAITING`."""


class ReportDelivery(_Agenda, frozen=True, tag="agenda.delivery.1"):
    """A surface tells how far it got with showing an occurrence (reply: `DeliveryNoted`).

    It says `DeliveryStep.BEGAN` before it shows anything and shows it only if that's granted: once
    for each occurrence and surface, whatever is repeated or restarted in between.
    """

    occurrence: str
    surface: str
    """A name that is the same after a reconnect, such as ``desktop`` or ``console.4f2a91c3``."""
    step: DeliveryStep
    reason: str = ""
    """Why it failed."""
    key: str = ""
    """Idempotency key of one attempt: repeated with the same one, because the answer was lost,
    `DeliveryStep.BEGAN` is granted again. Another attempt has another key."""


class DeliveryNoted(_Agenda, frozen=True, tag="agenda.delivery-noted.1"):
    """What is known of a delivery now."""

    granted: bool
    """Whether to show it: only for the first `DeliveryStep.BEGAN` of one that still waits."""
    reminder: ReminderView


class WaitingReminders(_Agenda, frozen=True, tag="agenda.waiting.1"):
    """First element of the subscription ``reminders``: all that isn't acknowledged.

    What is `OccurrenceState.WAITING` has been seen nowhere and is shown as a message; what is
    `OccurrenceState.SHOWN` is only counted, or listed on request.
    """

    reminders: tuple[ReminderView, ...]
    """By due time, the latest `MOST_WAITING` of them."""
    total: int
    """How many wait, given or not."""


MOST_WAITING = 200
"""Reminders in one `WaitingReminders`."""


class ReminderFired(_Agenda, frozen=True, tag="agenda.fired.1"):
    """An occurrence is due now: show it, once."""

    reminder: ReminderView


class ReminderChanged(_Agenda, frozen=True, tag="agenda.reminder-changed.1"):
    """An occurrence was shown, acknowledged or taken back, perhaps by another surface."""

    reminder: ReminderView


class ItemChanged(_Agenda, frozen=True, tag="agenda.item-changed.1"):
    """Element of the subscription ``agenda``: an item is like this now."""

    item: ItemView


# History and the future.


class ExplainItem(_Agenda, frozen=True, tag="agenda.explain.1"):
    """Asks for the history of an item (reply: `ItemHistory`)."""

    item: str
    """Id of an item or an occurrence, removed ones included."""
    limit: int = 200
    """The latest so many entries."""


class HistoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened."""

    at: float
    """Seconds since the epoch."""
    local: str
    """The same in the user's zone, ISO 8601 with offset."""
    event: str
    """``added``, ``changed``, ``claimed``, ``fired``, ``skipped``, ``shown``, ``snoozed``, ..."""
    occurrence: str = ""
    due_local: str = ""
    """When that occurrence is due, ISO 8601 with offset."""
    reason: str = ""
    """Why, in words."""


class ItemHistory(_Agenda, frozen=True, tag="agenda.history.1"):
    """An item and everything that happened to it, the oldest first."""

    item: ItemView
    entries: tuple[HistoryEntry, ...]
    total: int
    """How many there are, given or not."""


class SimulateAgenda(_Agenda, frozen=True, tag="agenda.simulate.1"):
    """Asks what would fire from now on; nothing is written (reply: `Simulated`)."""

    until: str
    """In words; a day includes all of it."""
    item: str = ""
    """Only this one."""
    limit: int = 500


class SimulatedFiring(msgspec.Struct, frozen=True, kw_only=True):
    """Something that would fire."""

    item: str
    kind: ItemKind
    text: str
    due: float
    """Seconds since the epoch."""
    local: str
    """ISO 8601 with offset, in the user's zone."""
    told: str
    """The same in words, with the weekday."""
    note: str = ""
    """What would be different: a time that the clocks skip, quiet hours, the daily limit."""


class Simulated(_Agenda, frozen=True, tag="agenda.simulated.1"):
    """What would fire, in order."""

    until: str
    """In words, absolute."""
    firings: tuple[SimulatedFiring, ...]
    cut: bool = False
    """Whether there's more than the limit."""


# Eris's own turns, and how things stand.


class PauseAgenda(_Agenda, frozen=True, tag="agenda.pause.1"):
    """Has Eris do nothing of its own accord (reply: `AgendaReport`).

    The user's own reminders go on: those were promised.
    """

    until: str = ""
    """In words; empty until it's resumed."""


class ResumeAgenda(_Agenda, frozen=True, tag="agenda.resume.1"):
    """Ends a pause (reply: `AgendaReport`)."""


class DescribeAgenda(_Agenda, frozen=True, tag="agenda.describe.1"):
    """Asks how things stand (reply: `AgendaReport`)."""


class AgendaReport(_Agenda, frozen=True, tag="agenda.report.1"):
    """How things stand; first element of the subscription ``agenda``."""

    now: float
    """The agenda's clock, seconds since the epoch."""
    local: str
    """The same in words, with weekday and zone."""
    zone: str
    """The user's; empty if it has no name."""
    open: int = 0
    """Items."""
    waiting: int = 0
    """Occurrences that aren't acknowledged."""
    next_item: str = ""
    next_due: float = 0
    """Seconds since the epoch; 0 if nothing is due."""
    next_told: str = ""
    """The same in words."""
    own_turns_today: int = 0
    own_turns_limit: int = 0
    quiet: bool = False
    """Whether it's within the quiet hours."""
    paused: bool = False
    paused_until: str = ""
    """In words; empty if it lasts until it's resumed."""
    note: str = ""
    """What's wrong, in words; empty if all is well."""
    looks: int = 0
    """How often it has looked what is due since the process started."""


AgendaRequest = (
    AddItem
    | ChangeItem
    | ResolveItem
    | ListItems
    | ReportDelivery
    | ExplainItem
    | SimulateAgenda
    | PauseAgenda
    | ResumeAgenda
    | DescribeAgenda
)
"""What the agenda is asked."""

Agenda = (
    AgendaRequest
    | AgendaChanged
    | Items
    | DeliveryNoted
    | WaitingReminders
    | ReminderFired
    | ReminderChanged
    | ItemChanged
    | ItemHistory
    | Simulated
    | AgendaReport
)
