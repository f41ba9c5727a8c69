"""Run the agenda actor as a process."""

from actors.agenda.actor import Agenda
from eris.actor import run

if __name__ == "__main__":
    run(Agenda, "agenda")
