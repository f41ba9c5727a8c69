"""How the state of the system and its logs look on a terminal."""

import json
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import click

from proto.supervisor import ActorStatus, StatusReport

_COLORS = {"ready": "green", "busy": "cyan", "failed": "red", "hung": "red", "degraded": "red"}
_HEADINGS = ("actor", "pid", "state", "restarts", "uptime", "memory", "queue", "dropped")
_FIELDS_SHOWN_APART = frozenset({"timestamp", "level", "event", "process", "exception"})
_FOLLOW_S = 0.2


class Progress:
    """One line on a terminal that says what isn't ready yet."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._last = ""

    def show(self, report: StatusReport) -> None:
        """Show the newest report."""
        ready = sum(actor.state in {"ready", "busy"} for actor in report.actors)
        rest = [actor.name for actor in report.actors if actor.state not in {"ready", "busy"}]
        line = f"Starting: {ready} of {len(report.actors)} ready"
        if rest:
            line += f", waiting for {', '.join(rest)}"
        if self._shown and line != self._last:
            self._last = line
            click.echo(f"\r\x1b[K{line[:100]}", err=True, nl=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if self._last:
            click.echo("\r\x1b[K", err=True, nl=False)


def show_status(report: StatusReport) -> None:
    """Print the table of processes."""
    state = click.style(report.state, fg=_COLORS.get(report.state, "yellow"))
    click.echo(
        f"{report.vault}: {state}, up {duration(report.uptime_seconds)}, erisd pid {report.pid}"
    )
    rows = [_HEADINGS, *(_row(actor) for actor in report.actors)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    for number, row in enumerate(rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        if number:
            cells[2] = click.style(cells[2], fg=_COLORS.get(row[2], "yellow"))
        click.echo("  ".join(cells).rstrip())
    problems(report)


def problems(report: StatusReport) -> None:
    """Print what processes say about themselves, on stderr."""
    for actor in report.actors:
        if actor.detail:
            click.echo(f"{actor.name} ({actor.state}): {actor.detail}", err=True)


def _row(actor: ActorStatus) -> tuple[str, ...]:
    dropped = ", ".join(f"{reason} {count}" for reason, count in actor.dropped.items())
    return (
        actor.name,
        str(actor.pid or "-"),
        actor.state,
        str(actor.restarts),
        duration(actor.uptime_seconds) if actor.pid else "-",
        f"{actor.rss_bytes / 1024**2:.0f} MiB" if actor.pid else "-",
        str(actor.mailbox),
        dropped or "0",
    )


def duration(seconds: float) -> str:
    """Return a time span in one or two units."""
    whole = int(seconds)
    for size, unit, smaller, name in (
        (86400, "d", 3600, "h"),
        (3600, "h", 60, "m"),
        (60, "m", 1, "s"),
    ):
        if whole >= size:
            return f"{whole // size}{unit} {whole % size // smaller}{name}"
    return f"{whole}s"


def show_log(file: Path, *, lines: int, follow: bool) -> None:
    """Print the end of a log, and what is written to it from then on."""
    with file.open(encoding="utf-8", errors="replace") as opened:
        text = opened.read()
        _print_lines(text.splitlines()[-lines:] if lines > 0 else [])
        if follow:
            _follow(file, opened)


def _follow(file: Path, opened: IO[str]) -> None:
    rest = ""
    while True:
        text = opened.read()
        if text:
            *complete, rest = (rest + text).split("\n")
            _print_lines(complete)
        elif _was_replaced(file, opened):
            with file.open(encoding="utf-8", errors="replace") as newer:
                _follow(file, newer)
        else:
            time.sleep(_FOLLOW_S)


def _was_replaced(file: Path, opened: IO[str]) -> bool:
    """Whether the file was rotated away, or cut, under the reader."""
    try:
        now = file.stat()
    except FileNotFoundError:
        return False
    return not now.st_size or now.st_size < opened.tell()


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(log_line(line))


def log_line(line: str) -> str:
    """Return a line of a structured log for people; any other line as it is."""
    try:
        event = json.loads(line)
    except ValueError:
        return line
    if not isinstance(event, dict):
        return line
    rest = " ".join(
        f"{key}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for key, value in event.items()
        if key not in _FIELDS_SHOWN_APART
    )
    stamp = str(event.get("timestamp", ""))[:23].replace("T", " ")
    text = f"{stamp} {event.get('level', ''):7} {event.get('event', '')} {rest}".rstrip()
    exception = event.get("exception")
    return f"{text}\n{exception}" if exception else text
