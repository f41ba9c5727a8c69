"""Run the agenda actor as a process."""

import os
import time
from functools import partial

from actors.agenda.actor import Agenda, clock_tools
from eris.actor import run
from eris.tool_declarations import run_or_declare

if __name__ == "__main__":
    run_or_declare(partial(run, Agenda, "agenda"), lambda: clock_tools(time.time, os.environ))
