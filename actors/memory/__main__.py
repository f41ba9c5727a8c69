"""Run the memory: ``python -m actors.memory``."""

from typing import Any

from eris.actor import run
from eris.tool_declarations import run_or_declare


def _run() -> None:
    from actors.memory.actor import Memory  # noqa: PLC0415 - heavy, and not for declarations

    run(Memory, "memory")


def _declare() -> Any:
    from actors.memory.tools import memory_tools  # noqa: PLC0415

    nothing: Any = None  # Handlers aren't called.
    return memory_tools(nothing)


if __name__ == "__main__":
    run_or_declare(_run, _declare)
