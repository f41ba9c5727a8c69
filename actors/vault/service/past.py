"""What was done to the notes, by whom, and how they differ from what they were."""

from actors.vault.history import History as Versions
from actors.vault.journal import Journal
from actors.vault.service.finding import Finder
from actors.vault.steps import Recorded, State
from eris.errors import NotFoundError
from proto.vault import (
    Blame,
    BlamedLine,
    BlameNote,
    Difference,
    DiffNote,
    History,
    ListHistory,
    StepView,
)


class Past:
    """Answers questions about steps; thread-safe."""

    def __init__(self, versions: Versions, journal: Journal, finder: Finder) -> None:
        """Create it.

        Args:
            versions: The notes' versions.
            journal: The steps.
            finder: Finds notes by name.
        """
        self._versions = versions
        self._journal = journal
        self._finder = finder

    def history(self, request: ListHistory) -> History:
        """Return the steps that changed a note, or any, the latest first."""
        if not request.note:
            steps = self._versions.latest(request.limit)
            return History(steps=tuple(map(self._view, steps)))
        path, _there = self._finder.place(request.note)
        found = self._versions.versions(path, request.limit)
        steps = list({each.step.number: each.step for each in found}.values())
        return History(path=path, steps=tuple(map(self._view, steps)))

    def diff(self, request: DiffNote) -> Difference:
        """Return what a step changed, or what changed since it.

        Raises:
            NotFoundError: There's no such step, or nothing was changed by Eris.
        """
        path = self._finder.place(request.note)[0] if request.note else ""
        if request.since or not request.step:
            versions = self._versions.versions(path) if path else []
            found = [each for each in versions if request.step in {0, each.step.number}]
            if path and not found:
                raise NotFoundError(
                    f"Nothing on record changed {path}.",
                    hint="Only what was written through Eris is on record.",
                )
            if request.since and found:
                return Difference(
                    path=path, text=self._versions.diff_version(path, found[0].version)
                )
            number = found[0].step.number if found else self._last()
        else:
            number = request.step
        return Difference(path=path, text=self._versions.diff_step(number, path))

    def _last(self) -> int:
        latest = self._versions.latest(1)
        if not latest:
            raise NotFoundError("Nothing was written through Eris yet.")
        return latest[0].number

    def blame(self, request: BlameNote) -> Blame:
        """Return the lines of a note, each with the step that wrote it."""
        path = self._finder.path(request.note)
        blamed = self._versions.blame(path)
        lines = []
        for line in blamed.lines:
            step = blamed.steps.get(line.writer) if line.writer is not None else None
            lines.append(
                BlamedLine(
                    number=line.number,
                    text=line.text.rstrip("\r\n"),
                    step=step.number if step else 0,
                    turn=_turn(step) if step else "",
                    at=step.at if step else 0.0,
                )
            )
        return Blame(path=path, lines=tuple(lines))

    def _view(self, step: Recorded) -> StepView:
        return StepView(
            number=step.number,
            at=step.at,
            message=step.line,
            turn=_turn(step),
            session=step.cause.session,
            files=len(step.changes),
            undone=bool(self._journal.undone_by(step.number)),
            kept=step.state is not State.DROPPED,
        )


def _turn(step: Recorded) -> str:
    """The turn that did it; empty if it was asked for without a model."""
    return step.cause.turn if ":" in step.cause.tool else ""
