"""Run the agenda actor as a process."""

import os
import time
from functools import partial
from typing import Any

from actors.agenda.actor import Agenda
from actors.agenda.clock_tools import clock_tools
from actors.agenda.health import health_tools
from actors.agenda.tools import agenda_tools
from eris.actor import run
from eris.tool_declarations import run_or_declare

if __name__ == "__main__":
    nothing: Any = None  # only declared: handlers aren't called
    run_or_declare(
        partial(run, Agenda, "agenda"),
        lambda: (
            *clock_tools(time.time, os.environ),
            *agenda_tools(nothing),
            *health_tools(nothing),
        ),
    )
