"""Run the memory: ``python -m actors.memory``."""

from actors.memory.actor import Memory
from eris.actor import run

if __name__ == "__main__":
    run(Memory, "memory")
