"""What time it is, for the model."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from actors.agenda.clock import local_moment, system_zone, time_told, utc_offset, weekday
from eris.tools import Call, Outcome, Tool
from proto.tools import Effect


class Now(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``clock:now``: none."""


def clock_tools(clock: Callable[[], float], environ: Mapping[str, str]) -> tuple[Tool[Any], ...]:
    """Declare the clock's tools.

    Args:
        clock: Seconds since the epoch.
        environ: Environment, for ``TZ``.
    """

    def now(_arguments: Now, _call: Call) -> Outcome:
        zone = system_zone(environ)
        moment = local_moment(clock(), zone)
        return Outcome(
            content=time_told(moment, zone),
            data={
                "iso": moment.isoformat(timespec="seconds"),
                "weekday": weekday(moment),
                "zone": zone.name,
                "offset": utc_offset(moment),
            },
        )

    return (
        Tool(
            name="clock:now",
            description="Tell the current local date, time, weekday and time zone.",
            hints=(
                "What time is it?",
                "What's today's date?",
                "Which day of the week is it today?",
                "What year is it?",
                "tell me the time",
                "current date and time",
                "What time zone am I in?",
            ),
            arguments=Now,
            handler=now,
            effect=Effect.READ,
        ),
    )
