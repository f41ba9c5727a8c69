"""How the whole system is, in a few lines that a small model can read."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from actors.agenda.spans import span_told
from eris.errors import ErisError
from eris.tools import Call, Outcome, Tool
from proto.inference import DescribeModel, ModelDescription
from proto.memory import DescribeMemory, MemoryReport
from proto.supervisor import Status, StatusReport
from proto.tools import Effect

R = TypeVar("R", bound=msgspec.Struct)

ASK_SECONDS = 3.0
"""So long each process has to say how it is."""

_MEGABYTE = 1_000_000
_GIGABYTE = 1_000_000_000
_WELL = frozenset({"ready", "busy"})
_LONGEST_DETAIL = 200


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``system:health``: none."""


class Asker(Protocol):
    """Asks other processes; a `Port`."""

    def ask(self, dst: str, body: msgspec.Struct, expect: type[R], *, within: float) -> R:
        """Send a request and wait for its reply."""


class System:
    """Asks everybody how they are. What doesn't answer is told as such."""

    def __init__(self, asker: Asker, state: Path) -> None:
        """Make it.

        Args:
            asker: Asks other processes.
            state: A folder on the disk that counts.
        """
        self._asker = asker
        self._state = state

    def lines(self) -> list[str]:
        """Return how things are."""
        return [*self._processes(), self._model(), self._index(), self._machine()]

    def _processes(self) -> list[str]:
        try:
            report = self._asker.ask("erisd", Status(), StatusReport, within=ASK_SECONDS)
        except ErisError as error:
            return [f"The supervisor doesn't answer: {error.message}"]
        ill = [actor for actor in report.actors if actor.state not in _WELL]
        well = f"{len(report.actors) - len(ill)} of {len(report.actors)} processes are well"
        used = sum(actor.rss_bytes for actor in report.actors) / _MEGABYTE
        up = span_told(report.uptime_seconds)
        lines = [
            f"Eris {report.version} is {report.state}, up for {up}: {well}, and use {used:.0f} MB."
        ]
        lines += [f"{actor.name} is {actor.state}{_because(actor.detail)}." for actor in ill]
        lines += [
            f"{actor.name}{_because(actor.detail)}"
            for actor in report.actors
            if actor.detail and actor not in ill
        ]
        restarted = [f"{each.name} {each.restarts}" for each in report.actors if each.restarts]
        return [*lines, f"Restarts: {', '.join(restarted)}."] if restarted else lines

    def _model(self) -> str:
        try:
            model = self._asker.ask(
                "inference", DescribeModel(), ModelDescription, within=ASK_SECONDS
            )
        except ErisError as error:
            return f"The model doesn't answer: {error.message}"
        size = f", {model.size_bytes / _MEGABYTE:.0f} MB" if model.size_bytes else ""
        return f"Model: {model.name}{size}, context of {model.context_length} tokens."

    def _index(self) -> str:
        try:
            memory = self._asker.ask("memory", DescribeMemory(), MemoryReport, within=ASK_SECONDS)
        except ErisError as error:
            return f"The memory doesn't answer: {error.message}"
        note = f" {memory.note}" if memory.note else ""
        waiting = f", {memory.waiting} wait" if memory.waiting else ""
        return (
            f"Index: {memory.notes} notes and {memory.documents} documents in {memory.chunks} "
            f"pieces{waiting}.{note}"
        )

    def _machine(self) -> str:
        try:
            disk = shutil.disk_usage(self._state)
        except OSError as error:
            return f"The disk can't be asked: {error}"
        load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
        return (
            f"Disk: {disk.free / _GIGABYTE:.1f} of {disk.total / _GIGABYTE:.1f} GB are free. "
            f"Load {load} on {os.cpu_count()} processors."
        )


def health_tools(lines: Callable[[], list[str]]) -> tuple[Tool[Any], ...]:
    """Declare ``system:health``.

    Args:
        lines: Says how things are.
    """

    def health(_arguments: Health, _call: Call) -> Outcome:
        return Outcome(content="\n".join(lines()))

    return (
        Tool(
            name="system:health",
            description="Tell how Eris itself is: its processes, model, memory, index and disk.",
            hints=(
                "system health",
                "Show me the system status.",
                "Are all processes of Eris running?",
                "How much memory does Eris use?",
                "Is there room on the disk?",
                "Are my notes in the index?",
                "Which processes failed?",
            ),
            arguments=Health,
            handler=health,
            effect=Effect.READ,
        ),
    )


def _because(detail: str) -> str:
    return f": {detail[:_LONGEST_DETAIL]}" if detail else ""
