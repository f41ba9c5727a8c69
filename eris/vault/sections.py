"""Headings as people and models name them, and the text that is each heading's own."""

import re
from collections.abc import Callable

from rapidfuzz import process

from eris.errors import InvalidError, NotFoundError
from eris.vault.anchors import BLOCK_ID, heading_key
from eris.vault.names import folded
from eris.vault.note import LINE_END, Heading, Note, Span

_MARKS = re.compile(r"(#{1,6})[ \t]+")
_RULE = re.compile(r"[ \t]*([*_-])[ \t]*(?:\1[ \t]*){2,}")
_MOST_LISTED = 12


def heading_named(note: Note, name: str) -> Heading:
    """Return the heading that a name means.

    A heading of exactly this title is looked for first, then one whose title differs in case only,
    then one that a link couldn't tell from it (`Plan: B` and `plan b`).

    Args:
        note: The note.
        name: `Title`, `## Title` (of this level, if there's such a one), or a path such as
            `Chapter#Section`: a `Section` somewhere under a `Chapter`.

    Raises:
        NotFoundError: There's no such heading; the hint lists those that there are.
        InvalidError: Several are meant; the hint lists their lines.
    """
    wanted = name.strip()
    marks = _MARKS.match(wanted)
    title = BLOCK_ID.sub("", wanted.lstrip("#").strip())
    found = _candidates(note, title)
    if marks:
        found = [each for each in found if each.level == len(marks[1])] or found
    if len(found) == 1:
        return found[0]
    if found:
        places = ", ".join(f"line {note.line(each.span.start)} ({_shown(each)})" for each in found)
        raise InvalidError(
            f"{len(found)} headings of the note are named {wanted!r}: {places}.",
            hint=f"Name the heading above it too, as in `Chapter#{title}`.",
        )
    raise NotFoundError(f"The note has no heading {wanted!r}.", hint=_others(note, title))


def heading_like(note: Note, words: str) -> Heading | None:
    """Return the only heading that has all of these words, for reading; nothing if it's not one."""
    wanted = set(heading_key(words).split())
    found = [each for each in note.headings if wanted <= set(heading_key(each.title).split())]
    return found[0] if wanted and len(found) == 1 else None


def own_text(note: Note, heading: Heading, *, whole: bool = False) -> Span:
    """Return the lines under a heading, without the blank ones at their end.

    A rule (`---`) and comments (`%% … %%`) at the end aren't part of it, either: they set it apart
    from what follows, or hold a plugin's settings, as those at the end of a Kanban board.

    Args:
        note: The note.
        heading: A heading of it.
        whole: Whether the sub-headings, and what is under them, are part of it.

    Returns:
        From the first line under the heading to the end of the last one, without its line end; if
        there's none, nothing, at the end of the heading.
    """
    end = heading.section.end
    if not whole:
        end = next(
            (each.span.start for each in note.headings if each.span.start > heading.span.start), end
        )
    following = LINE_END.match(note.text, heading.span.end)
    start = following.end() if following else heading.span.end
    end = _last_line_end(note, start, end)
    return Span(start, end) if end > start else Span(heading.span.end, heading.span.end)


def body_text(note: Note) -> Span:
    """Return the note's text after its frontmatter, with the same left out at its end."""
    return Span(note.body_start, _last_line_end(note, note.body_start, len(note.text)))


def _last_line_end(note: Note, start: int, end: int) -> int:
    """Return where the last line between two positions ends that is no blank one, rule or comment.

    Returns:
        A position before the line's end; `start` if there's no such line.
    """
    text = note.text
    comments = {each.end: each.start for each in note.opaque if text.startswith("%%", each.start)}
    while text[start:end].strip():
        last = start + len(text[start:end].rstrip())
        line = note.line_span(note.line(last - 1))
        if last in comments:
            opening = note.line_span(note.line(comments[last]))
            if comments[last] > opening.start:  # it's within a line of text
                return line.end
            end = opening.start
        elif _RULE.fullmatch(line.of(text)) and not any(
            line.start in each.span for each in note.headings
        ):
            end = line.start
        else:
            return line.end
    return start


def _candidates(note: Note, title: str) -> list[Heading]:
    """Return the headings that a title or path means, by the strictest reading that finds any."""
    readings: tuple[Callable[[str], str], ...] = (_one_line, _one_line_folded, heading_key)
    above = _headings_above(note)
    for key in readings:
        keys = [key(BLOCK_ID.sub("", each.title)) for each in note.headings]
        for parts in ([title], title.split("#")):
            wanted = [key(part) for part in parts if part.strip()]
            if not wanted or "" in wanted:
                continue
            found = [
                heading
                for number, heading in enumerate(note.headings)
                if keys[number] == wanted[-1]
                and _in_order(wanted[:-1], [keys[each] for each in above[number]])
            ]
            if found:
                return found
    return []


def _headings_above(note: Note) -> list[tuple[int, ...]]:
    """Return for each heading the numbers of those under which it stands, outermost first."""
    above: list[tuple[int, ...]] = []
    open_ones: list[int] = []
    for number, heading in enumerate(note.headings):
        while open_ones and note.headings[open_ones[-1]].level >= heading.level:
            open_ones.pop()
        above.append(tuple(open_ones))
        open_ones.append(number)
    return above


def _in_order(wanted: list[str], keys: list[str]) -> bool:
    """Whether all that is wanted is among the keys, in this order."""
    remaining = iter(keys)
    return all(any(key == each for key in remaining) for each in wanted)


def _one_line(title: str) -> str:
    return " ".join(title.split())


def _one_line_folded(title: str) -> str:
    return folded(_one_line(title))


def _shown(heading: Heading) -> str:
    return f"`{'#' * heading.level} {_one_line(heading.title)}`"


def _others(note: Note, title: str) -> str:
    """Say which headings there are: the nearest ones, if there are many."""
    if not note.headings:
        return "It has no headings."
    shown = [_shown(each) for each in note.headings]
    if len(shown) <= _MOST_LISTED:
        return f"It has: {', '.join(shown)}."
    nearest = process.extract(title, [each.title for each in note.headings], limit=_MOST_LISTED)
    listed = ", ".join(shown[number] for _, _, number in nearest)
    return f"It has {len(shown)} headings; the nearest are: {listed}."
