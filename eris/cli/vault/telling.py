"""How replies of the vault read: one function for each, from message to text."""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from eris.cli.looks import Look, lines
from proto.vault import (
    Blame,
    Difference,
    Headings,
    History,
    Hit,
    IndexState,
    Links,
    LinkView,
    NoteText,
    StepView,
    Table,
    Tags,
    Tasks,
    TaskView,
    Written,
)

# Reading.


def note(reply: NoteText, look: Look) -> str:
    """A note's own text; on a terminal its last line is ended."""
    text = look.text(reply.text)
    return f"{text}\n" if look.terminal and text and not text.endswith("\n") else text


def headings(reply: Headings, look: Look) -> str:
    """The headings, each with its line."""
    return lines(
        [
            f"{look.number(each.line)}: {'#' * each.level} {look.line(each.title)}"
            for each in reply.headings
        ]
    )


def paths(each: Iterable[str], look: Look) -> str:
    """Paths, one a line."""
    return lines([look.path(path) for path in each])


def children(files: Iterable[str], folders: Iterable[str], folder: str) -> tuple[str, ...]:
    """Return what is directly in a folder: the folders, with ``/`` at their end, then the files."""
    start = len(f"{folder}/") if folder else 0
    inside = [f"{path}/" for path in folders if "/" not in path[start:]]
    return (*inside, *(path for path in files if "/" not in path[start:]))


def property_value(value: object) -> str:
    """A property's value as a person would write it."""
    match value:
        case str():
            return value
        case list():
            return ", ".join(map(property_value, value))
        case _:
            return msgspec.json.encode(value).decode() if value is not None else ""


def properties(values: dict[str, object], look: Look) -> str:
    """Properties of a note, with their values."""
    return lines(
        [f"{look.path(name)}: {look.line(property_value(each))}" for name, each in values.items()]
    )


# Finding.


def found(hits: Sequence[Hit], look: Look) -> str:
    """What a search found: paths, or the lines that match, each behind its path."""
    told = []
    for hit in hits:
        told += [_at(hit.path, each.number, each.text, look) for each in hit.lines]
        if not hit.lines:
            told.append(look.path(hit.path))
    return lines(told)


def _at(path: str, number: int, text: str, look: Look) -> str:
    return f"{look.path(path)}:{look.number(number)}: {look.line(text)}"


def table(reply: Table, look: Look) -> str:
    """Rows of notes: columns in line on a terminal, tabs between them otherwise."""
    rows = [[look.line(cell) for cell in row] for row in (("note", *reply.columns), *reply.rows)]
    if not look.terminal:
        return lines(["\t".join(cell.replace("\t", " ") for cell in row) for row in rows])
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415 - slow to import

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    told = []
    for number, row in enumerate(rows):
        cells = [set_cell_size(cell, width) for cell, width in zip(row, widths, strict=True)]
        first = look.styled(cells[0], fg="magenta") if number else cells[0]
        line = "  ".join((first, *cells[1:])).rstrip()
        told.append(line if number else look.styled(line, dim=True))
    return lines(told)


def link_names(reply: Links, look: Look, *, sources: bool, counts: bool) -> str:
    """The files at the other end of links, each once, with the number of links if asked for."""
    ends = {_end(link, sources=sources): link for link in reversed(reply.links)}
    numbers = Counter(_end(link, sources=sources) for link in reply.links)
    told = []
    for name in numbers:
        lost = look.terminal and not sources and not ends[name].resolved
        line = look.path(name) + (" (unresolved)" if lost else "")
        told.append(f"{line}\t{look.number(numbers[name])}" if counts else line)
    return lines(told)


def _end(link: LinkView, *, sources: bool) -> str:
    return link.source if sources else link.target


def link_lines(reply: Links, look: Look) -> str:
    """Each link with the line it's on."""
    return lines([_at(link.source, link.line, link.text, look) for link in reply.links])


def tags(reply: Tags, look: Look, *, counts: bool) -> str:
    """Tags with their ``#``, and in how many notes they are if asked for."""
    return lines(
        [
            look.path(f"#{tag.name}") + (f"\t{look.number(tag.notes)}" if counts else "")
            for tag in reply.tags
        ]
    )


def tasks(reply: Tasks, look: Look) -> str:
    """Tasks, each behind its place."""
    return lines([task(each, look) for each in reply.tasks])


def task(view: TaskView, look: Look) -> str:
    """A task behind its place, which is what `eris vault task` takes."""
    box = "[x]" if view.done else "[ ]"
    return _at(view.path, view.line, f"{box} {view.text}", look)


def index(reply: IndexState, look: Look) -> str:
    """How the index is, and what couldn't be read."""
    line = f"{reply.done:,} of {reply.notes:,} notes are in the index"
    line += "; it's being brought up to date." if reply.building else "."
    problems = (
        f"{look.path(path)}: {look.line(reason)}" for path, reason in reply.problems.items()
    )
    return lines([line, *problems])


# Writing and looking back.


def written(reply: Written, look: Look) -> str:
    """What was done, the step to undo it by, and every file that has to do with it if several."""
    several = reply.files if len(reply.files) > 1 else ()
    return lines([look.line(sentence(reply)), *(f"  {look.path(path)}" for path in several)])


def sentence(reply: Written) -> str:
    """What was done, as a sentence, with the step to undo it by, and what to know of it."""
    message = reply.message.rstrip(".")
    step = f" (step {reply.step})" if reply.step else ""
    return f"{message[:1].upper()}{message[1:]}{step}. {reply.remark}".rstrip()


def history(reply: History, look: Look) -> str:
    """Steps, the latest first."""
    return lines([_step(each, look) for each in reply.steps])


def _step(step: StepView, look: Look) -> str:
    remarks = [
        *([f"turn {step.turn}"] if step.turn else []),
        *([f"{step.files} files"] if step.files > 1 else []),
        *(["undone"] if step.undone else []),
        *([] if step.kept else ["contents no longer kept"]),
    ]
    line = f"{look.number(f'{step.number:>5}')}  {look.time(step.at)}  {look.line(step.message)}"
    return line + (f"  {look.aside('(' + ', '.join(remarks) + ')')}" if remarks else "")


_MARKS = {"+": "green", "-": "red", "@": "cyan"}


def difference(reply: Difference, look: Look) -> str:
    """A unified diff."""
    text = look.text(reply.text)
    if not look.color:
        return text
    return "".join(
        look.styled(line, fg=_MARKS[line[0]]) if line[0] in _MARKS else line
        for line in text.splitlines(keepends=True)
    )


def blame(reply: Blame, look: Look) -> str:
    """Lines, each behind the step, the time and the turn that wrote it, if it was Eris."""
    origins = [
        f"{each.step:>5} {look.time(each.at)} {each.turn:<12}" if each.step else ""
        for each in reply.lines
    ]
    width = max(map(len, origins), default=0)
    digits = len(str(len(reply.lines)))
    told = []
    for origin, each in zip(origins, reply.lines, strict=True):
        behind = look.styled(origin.ljust(width), dim=True) + " " if width else ""
        told.append(f"{behind}{look.number(f'{each.number:>{digits}}')}: {look.line(each.text)}")
    return lines(told)
