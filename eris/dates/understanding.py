"""Words about time understood: `understand` for what is nothing else, `find` in a sentence.

Nothing is asked of a model. A text is read once from left to right, by the table in
`eris.dates.phrases`; what the parts mean together is decided in `eris.dates.resolving`.
"""

import dataclasses
import datetime as dt
import re
from collections.abc import Sequence

from eris.dates import rules, words_english, words_german, zones
from eris.dates.gathering import Said, gathered
from eris.dates.meaning import Found, Meant, Options, Recurrence
from eris.dates.parts import Clock, Elapsed, From, Offset, Part, Repeat, Span, Until, Zone
from eris.dates.phrases import Place, parts_at
from eris.dates.readings import Context
from eris.dates.resolving import resolve
from eris.dates.tokens import Token, tokens_of
from eris.errors import InvalidError

LONGEST_TEXT = 1000
_HOURS = 24
_JOINING = frozenset({
    "at", "on", "by", "in", "um", "am", "im", "den", "der", "dem", "zum", "gegen", ",", "ab",
})  # fmt: skip
"""Words before a part that go with it when it's taken out of a sentence."""
_FILLERS = _JOINING | {
    "the", "of", "and", "an", "zur", "von", "und", "pro", "uhr", "to", "for", "please", "bitte",
    "exactly", "sharp", "punkt", "genau", ".", "!", "?", ";", "(", ")",
}  # fmt: skip
"""Words between parts that mean nothing by themselves."""
_HINT = "Say when, such as 'tomorrow at 9:30', 'in 20 minutes', 'every Monday at 8'."
_RULE = re.compile(r"(?:RRULE:)?(?=[A-Z]+=)(?=.*\bFREQ=)[A-Z0-9=;,+-]+", re.IGNORECASE)


_AFTER_DAY = frozenset({
    "to", "and", "or", "that", "for", "about", "please", "at", "um", "und", "oder", "dass", "zu",
    "an", "bitte", "daran", "mich", "me", "remind", "i", "ich", ",", ".", "!", "?", ";", ":", ")",
    "-", "with", "mit", "in", "until", "bis",
})  # fmt: skip
"""Words that can follow a day or hour which is a bare number."""
_MEASURES = frozenset({
    "euro", "euros", "dollar", "dollars", "cent", "cents", "percent", "prozent", "degrees", "grad",
    "km", "kilometer", "meter", "meters", "metres", "miles", "kg", "kilo", "people", "personen",
    "leute", "points", "punkte", "times", "mal", "%", "€", "$", "°", "/",
})  # fmt: skip
"""Words that make an amount of a number before them."""
_TIMERS = frozenset({"timer", "alarm", "wecker", "countdown", "timers", "kurzzeitwecker"})


@dataclasses.dataclass(frozen=True)
class _Run:
    """Parts, where they're written, in tokens, and where they count."""

    parts: tuple[Part, ...]
    first: int
    end: int
    place: Place


def understand(text: str, now: dt.datetime, options: Options | None = None) -> Meant:
    """Return what a text about time means.

    Args:
        text: Nothing but words about time; a rule of RFC 5545 counts as such.
        now: Aware, in the user's zone (an IANA name).
        options: The user's; the defaults of `Options` otherwise.

    Raises:
        InvalidError: It isn't understood, is in the past, never happens or contradicts itself; or
            ``now`` has no zone by name. The hint says what to say instead.
    """
    options = options or Options()
    zones.name_of(now)
    _check(text)
    if _RULE.fullmatch(text.strip()):
        return _rule(text.strip(), now, options)
    tokens = tokens_of(text, options.languages, whole=True)
    runs, left = _runs(tokens, Context(now.date(), options), whole=True)
    unknown = [token for token in left if token.text not in _FILLERS]
    if unknown:
        words = " ".join(text[token.start : token.end] for token in unknown)
        raise InvalidError(f"{words[:80]!r} isn't understood as a time.", hint=_HINT)
    return _meant(text, tokens, runs, now, options)


def find(text: str, now: dt.datetime, options: Options | None = None) -> Found:
    """Return the time that a sentence speaks of, and the sentence without it.

    Args:
        text: Such as `remind me tomorrow at half past nine to call Ann`.
        now: Aware, in the user's zone (an IANA name).
        options: The user's; the defaults of `Options` otherwise.

    Raises:
        InvalidError: As for `understand`, or there is no time in the sentence.
    """
    options = options or Options()
    zones.name_of(now)
    _check(text)
    tokens = tokens_of(text, options.languages, whole=False)
    runs, _ = _runs(tokens, Context(now.date(), options), whole=False)
    runs = _of_one_time(_counting(runs, tokens))
    meant = _meant(text, tokens, runs, now, options)
    return Found(meant=meant, rest=_rest(text, tokens, runs))


def _check(text: str) -> None:
    if not text.strip():
        raise InvalidError("There are no words that could say when.", hint=_HINT)
    if len(text) > LONGEST_TEXT:
        raise InvalidError(
            f"A time in {len(text)} characters isn't looked for.",
            hint=f"Pass the words about time only, {LONGEST_TEXT} characters at most.",
        )


def _runs(
    tokens: Sequence[Token], context: Context, *, whole: bool
) -> tuple[list[_Run], list[Token]]:
    """Return what is understood, in order, and the words that aren't."""
    runs: list[_Run] = []
    left: list[Token] = []
    place = 0
    while place < len(tokens):
        end, parts, counts = parts_at(tokens, place, context, whole=whole)
        if parts:
            runs.append(_Run(parts, place, end, counts))
            place = end
        else:
            left.append(tokens[place])
            place += 1
    return runs, left


def _counting(runs: Sequence[_Run], tokens: Sequence[Token]) -> list[_Run]:
    """Leave out what isn't a time where it stands in this sentence."""
    starts = {run.first for run in runs}
    sure = []
    for run in runs:
        after = tokens[run.end].text if run.end < len(tokens) else ""
        free = not after or run.end in starts or after in _AFTER_DAY
        if (
            run.place is Place.ANYWHERE
            or (run.place is Place.CLOSING and free)
            or (run.place is Place.UNMEASURED and after not in _MEASURES and _is_hour(run))
        ):
            sure.append(run)
    taken = {number for run in sure for number in range(run.first, run.end)}
    taken |= {number for number, token in enumerate(tokens) if token.text in _TIMERS}
    return [run for run in runs if run in sure or _is_beside(run, tokens, taken)]


def _is_hour(run: _Run) -> bool:
    return all(isinstance(part, Clock) and part.hour <= _HOURS for part in run.parts)


def _is_beside(run: _Run, tokens: Sequence[Token], taken: set[int]) -> bool:
    """Whether a time or a word such as `timer` comes directly before or after."""
    if run.place is not Place.BESIDE:
        return False
    before, after = run.first - 1, run.end
    while before >= 0 and tokens[before].text in _FILLERS:
        before -= 1
    while after < len(tokens) and tokens[after].text in _FILLERS:
        after += 1
    return before in taken or after in taken


def _of_one_time(runs: list[_Run]) -> list[_Run]:
    """Leave out what isn't meant: amounts beside a date, and ends or starts of nothing."""
    firm = [run for run in runs if not _only(run, Elapsed | Until | From | Zone | Span)]
    amounts = [run for run in runs if _only(run, Elapsed)]
    if firm:
        kept = [run for run in runs if run not in amounts or _said_as_when(run)]
    else:
        said_as_when = [run for run in amounts if _said_as_when(run)]
        kept = said_as_when or amounts
    repeats = any(isinstance(part, Repeat) for run in kept for part in run.parts)
    return kept if repeats else [run for run in kept if not _only(run, Until | From)]


def _only(run: _Run, kind: object) -> bool:
    return all(isinstance(part, kind) for part in run.parts)  # type: ignore[arg-type]


def _said_as_when(run: _Run) -> bool:
    return any(isinstance(part, Elapsed) and part.firm for part in run.parts)


def _meant(
    text: str, tokens: Sequence[Token], runs: Sequence[_Run], now: dt.datetime, options: Options
) -> Meant:
    parts = [part for run in runs for part in run.parts]
    if not any(not isinstance(part, Zone | Offset | Until | From) for part in parts):
        raise InvalidError(f"{text.strip()[:80]!r} doesn't say when.", hint=_HINT)
    said: Said = gathered(parts)
    meaning, assumed = resolve(said, now, options)
    words = " ".join(text[tokens[run.first].start : tokens[run.end - 1].end] for run in runs)
    return Meant(meaning=meaning, words=words, assumed=tuple(assumed))


def _rest(text: str, tokens: Sequence[Token], runs: Sequence[_Run]) -> str:
    taken: set[int] = set()
    for run in runs:
        taken |= set(range(run.first, run.end))
        before = run.first - 1
        while before >= 0 and tokens[before].text in _JOINING:
            taken.add(before)
            before -= 1
    pieces: list[str] = []
    last = -1
    for number, token in enumerate(tokens):
        if number in taken:
            continue
        if pieces and (number - 1 in taken or number == last + 1):
            gap = text[tokens[number - 1].end : token.start]
            joint = gap if number == last + 1 else "" if token.text in set(".,!?;:") else " "
            pieces.append(joint)
        pieces.append(text[token.start : token.end])
        last = number
    return _opened("".join(pieces).strip())


_OPENINGS = sorted({*words_english.OPENINGS, *words_german.OPENINGS}, key=len, reverse=True)
_OPENING = re.compile(rf"(?:{'|'.join(map(re.escape, _OPENINGS))})(?!\w)", re.IGNORECASE)
_CLOSING = re.compile(r"[\s,]+(?:please|bitte)[\s.!]*$", re.IGNORECASE)


def _opened(rest: str) -> str:
    """Return a sentence without the words that open or close a request."""
    rest = _CLOSING.sub("", rest).rstrip(" ,:;-").lstrip(" ,:;.!?-")
    while opening := _OPENING.match(rest):
        rest = rest[opening.end() :].lstrip(" ,:;.!?-")
    return rest


def _rule(text: str, now: dt.datetime, options: Options) -> Meant:
    zone = zones.name_of(now)
    rule = ";".join(f"{name}={value}" for name, value in rules.parts_of(text).items())
    start = dt.datetime.combine(now.date(), options.default_time)
    wall, first, note = rules.first_after(rule, start, zone, now)
    parts = rules.parts_of(rule)
    said = "BYHOUR" in parts
    assumed = [] if said else [f"no time said: {start:%H:%M}".replace(": 0", ": ")]
    assumed += [note] if note else []
    return Meant(
        meaning=Recurrence(rule=rule, start=wall, first=first, zone=zone, time_said=said),
        words=text,
        assumed=tuple(assumed),
    )
