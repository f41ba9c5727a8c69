"""What surfaces showed: each occurrence once on each of them."""

import msgspec

from actors.agenda.desk import Change, Desk
from actors.agenda.naming import Named
from actors.agenda.record import ANSWERABLE, Delivery, Item, Occurrence
from eris.errors import InvalidError
from proto.agenda import (
    DESKTOP,
    MOST_WAITING,
    DeliveryNoted,
    DeliveryStep,
    OccurrenceState,
    ReportDelivery,
    WaitingReminders,
)

LONGEST_SURFACE = 80


class Delivering:
    """Keeps the deliveries."""

    def __init__(self, desk: Desk, named: Named) -> None:
        """Make it."""
        self._desk = desk
        self._named = named

    def waiting(self) -> WaitingReminders:
        """Return what isn't acknowledged, with the latest due last."""
        unended = [each for each in self._desk.store.unended() if each.state in ANSWERABLE]
        return WaitingReminders(
            reminders=tuple(self._desk.reminder_view(each) for each in unended[-MOST_WAITING:]),
            total=len(unended),
        )

    def report(self, request: ReportDelivery) -> DeliveryNoted:
        """Note how far a surface got.

        Raises:
            InvalidError: It doesn't name an occurrence and a surface.
            NotFoundError: There is no such occurrence.
        """
        if not request.surface.strip() or len(request.surface) > LONGEST_SURFACE:
            raise InvalidError(
                f"{request.surface[:LONGEST_SURFACE]!r} can't be the name of a surface.",
                hint=f"Give 1 to {LONGEST_SURFACE} characters, the same after a reconnect.",
            )

        def work(change: Change) -> DeliveryNoted:
            item, occurrence = self._named.item(request.occurrence)
            if occurrence is None:
                raise InvalidError(
                    f"{request.occurrence!r} is a whole item.",
                    hint="Name the occurrence, such as a7.2.",
                )
            granted, occurrence = self._noted(change, item, occurrence, request)
            return DeliveryNoted(
                granted=granted, reminder=self._desk.reminder_view(occurrence, item)
            )

        return self._desk.change(work)

    def _noted(
        self, change: Change, item: Item, occurrence: Occurrence, request: ReportDelivery
    ) -> tuple[bool, Occurrence]:
        known = {each.surface: each for each in change.store.deliveries(occurrence)}
        latest = known.get(request.surface)
        before = latest.step if latest else None
        match request.step:
            case DeliveryStep.BEGAN:
                if occurrence.state not in ANSWERABLE or before is DeliveryStep.SHOWN:
                    return False, occurrence
                if latest is not None and before is DeliveryStep.BEGAN:
                    return bool(request.key) and request.key == latest.key, occurrence
                self._keep(change, item, occurrence, request)
                return True, occurrence
            case DeliveryStep.FAILED:
                if before is DeliveryStep.BEGAN:
                    self._keep(change, item, occurrence, request)
                return False, occurrence
            case DeliveryStep.SHOWN:
                if before is not DeliveryStep.SHOWN:
                    self._keep(change, item, occurrence, request)
                return False, self._seen(change, item, occurrence, request.surface)

    def _keep(
        self, change: Change, item: Item, occurrence: Occurrence, request: ReportDelivery
    ) -> None:
        delivery = Delivery(surface=request.surface, step=request.step, key=request.key)
        change.store.deliver(occurrence, delivery, change.now)
        if request.step is not DeliveryStep.BEGAN:
            reason = f"on {request.surface}"
            reason += f": {request.reason[:200]}" if request.reason else ""
            event = "shown" if request.step is DeliveryStep.SHOWN else "not shown"
            change.note(item, event, reason, occurrence)

    def _seen(self, change: Change, item: Item, occurrence: Occurrence, surface: str) -> Occurrence:
        if occurrence.state is not OccurrenceState.WAITING or surface == DESKTOP:
            return occurrence
        occurrence = msgspec.structs.replace(
            occurrence, state=OccurrenceState.SHOWN, shown=change.now
        )
        change.store.update(occurrence)
        change.told(item, occurrence)
        return occurrence
