"""Tools as declared by their owners, without a running system.

The command line may import no actor, so an owner says in a process of its own what it declares:
`python -m actors.vault --tools` prints the declarations and ends.
"""

import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from eris.errors import ErisError
from proto.tools import ToolDeclaration

if TYPE_CHECKING:
    from eris.tools import Tool  # with it comes all that an actor needs

OWNERS = ("vault", "agenda", "memory")
"""Actors that own tools."""

FLAG = "--tools"
_SECONDS = 30.0


def run_or_declare(run: Callable[[], None], declare: Callable[[], Iterable["Tool[Any]"]]) -> None:
    """Run an actor that owns tools; with `FLAG` print what it declares instead.

    Args:
        run: Runs the actor.
        declare: Gives its tools; their handlers aren't called.
    """
    if FLAG in sys.argv[1:]:
        declarations = [tool.declaration() for tool in declare()]
        sys.stdout.buffer.write(msgspec.json.encode(declarations))
    else:
        run()


def declared_tools(environ: Mapping[str, str]) -> tuple[ToolDeclaration, ...]:
    """Ask every owner for its tools; sorted by name.

    Raises:
        ErisError: An owner couldn't say.
    """
    asked = {
        owner: subprocess.Popen(
            [sys.executable, "-m", f"actors.{owner}", FLAG],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environ),
        )
        for owner in OWNERS
    }
    found: list[ToolDeclaration] = []
    for owner, process in asked.items():
        found += _answer(owner, process)
    return tuple(sorted(found, key=lambda tool: tool.name))


def _answer(owner: str, process: "subprocess.Popen[bytes]") -> tuple[ToolDeclaration, ...]:
    with process:
        try:
            text, complaint = process.communicate(timeout=_SECONDS)
            return msgspec.json.decode(text, type=tuple[ToolDeclaration, ...])
        except (subprocess.TimeoutExpired, msgspec.DecodeError) as error:
            process.kill()
            said = complaint.decode(errors="replace").strip() if process.returncode else str(error)
            raise ErisError(
                f"The process {owner} didn't say which tools it has: {said[-500:]}",
                hint=f"Try it: python -m actors.{owner} {FLAG}",
            ) from error
