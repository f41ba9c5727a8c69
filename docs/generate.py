"""Writes the pages of docs/ that are made from the code: ``python docs/generate.py [--check]``.

``protocol.md`` comes from the structures and docstrings of ``proto/``, ``tools.md`` from the tools'
declarations, ``configuration.md`` from the structures of `eris.config`. A test runs this with
``--check``, so none can drift.
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
from settings_page import settings_page

from actors.agenda.clock_tools import clock_tools
from actors.agenda.health import health_tools
from actors.agenda.tools import agenda_tools
from actors.memory.tools import memory_tools
from actors.vault.tools import vault_tools
from eris import config
from eris.codec import tag_of
from eris.tools import Tool, parameters_schema
from proto import envelope, errors, rights

HERE = Path(__file__).parent
MODULES = (
    "control",
    "orchestrator",
    "gatekeeper",
    "tools",
    "inference",
    "router",
    "memory",
    "agenda",
    "supervisor",
    "vault",
)

INTRODUCTION = """\
# The protocol

This page is made from `proto/` by `docs/generate.py`. It's all that a program in another language
needs to talk to Eris.

## Frames

Every process has one ZeroMQ DEALER socket, connected to the bus (a ROUTER) at
`<runtime directory>/bus.sock`. Its routing id is `name/incarnation`, the incarnation being the
nanoseconds since the epoch at its start. A message is two frames, both
[msgpack](https://msgpack.org): the **head**, an array, and the **body**, a map whose field `t` is
the tag that names its type. Unknown fields of a body are ignored; fields of the head are only ever
added at its end. A change that breaks either gets a new tag.

After connecting, and after every reconnection, a peer says `hello.1` to `bus`; the answer names
the actors that are there. What can't be delivered comes back as an `error.1` from `bus` whose
details name receiver and kind.

## Requests

A `REQUEST` is answered by one `REPLY` or `ERROR` whose `corr` is the request's id. A receiver drops
a request whose budget is used up, and answers a repetition of the same id with the first answer.
After the bus was restarted, a sender repeats what it has no answer to. `CANCEL` with the request's
id in `corr` asks the receiver to stop.

## Streams and subscriptions

A request that opens a stream is answered by `ITEM`s numbered from 0 in `seq`, then one `END` or
`ERROR`. The receiver acknowledges with `credit.1` at least every {every} items; the sender is never
more than {window} items ahead of the last acknowledgement. On a gap, after a silence and after a
reconnection the receiver asks with `resume.1` for everything from a number on, and drops what it
has already. A subscription (`subscribe.1`) is a stream of `EVENT`s whose first is a snapshot; a
subscriber that falls too far behind gets an `ERROR` with the code `overrun` and subscribes again.
"""


def attributes(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield name and docstring of every documented attribute of a class, in order."""
    for first, second in zip(node.body, node.body[1:], strict=False):
        target = first.targets[0] if isinstance(first, ast.Assign) else None
        target = first.target if isinstance(first, ast.AnnAssign) else target
        documented = isinstance(second, ast.Expr) and isinstance(second.value, ast.Constant)
        if isinstance(target, ast.Name) and documented:
            yield target.id, inspect.cleandoc(str(second.value.value))


def classes(module: ModuleType) -> dict[str, ast.ClassDef]:
    """Return the class definitions of a module by name, in order."""
    tree = ast.parse(inspect.getsource(module))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def type_name(kind: Any) -> str:
    """Return a type as it's written in the source, without module names."""
    text = inspect.formatannotation(kind)
    for module in (*MODULES, "errors", "envelope"):
        text = text.replace(f"proto.{module}.", "")
    return text.replace("|", "\\|")


def table(rows: Iterator[tuple[str, ...]], *titles: str) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    lines += ["| " + " | ".join(cell.replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def structure(kind: type[msgspec.Struct], node: ast.ClassDef) -> str:
    """Return the section of one structure."""
    described = dict(attributes(node))
    tag = kind.__struct_config__.tag
    title = f"### `{tag_of(kind)}`" if isinstance(tag, str) else f"### {kind.__name__}"
    fields = table(
        (
            (
                f"`{field.name}`",
                f"`{type_name(field.type)}`",
                "" if field.required else "optional",
                described.get(field.name, ""),
            )
            for field in msgspec.structs.fields(kind)
        ),
        "field",
        "type",
        "",
        "meaning",
    )
    text = inspect.cleandoc(kind.__doc__ or "")
    return f"{title}\n\n{text}\n\n{fields if kind.__struct_fields__ else ''}".rstrip() + "\n"


def enumeration(node: ast.ClassDef, kind: Any) -> str:
    """Return the section of an enumeration."""
    described = dict(attributes(node))
    rows = ((f"`{member.value}`", described.get(member.name, "")) for member in kind)
    return f"### {kind.__name__}\n\n{inspect.cleandoc(kind.__doc__)}\n\n" + (
        table(rows, "value", "meaning") + "\n"
    )


def module_section(name: str) -> str:
    """Return the section of one module of the contract."""
    module = import_module(f"proto.{name}")
    parts = [f"## {name}\n\n{inspect.cleandoc(module.__doc__ or '')}\n"]
    for class_name, node in classes(module).items():
        kind = getattr(module, class_name)
        if class_name.startswith("_"):
            continue
        if issubclass(kind, msgspec.Struct):
            parts.append(structure(kind, node))
        else:
            parts.append(enumeration(node, kind))
    return "\n".join(parts)


def rights_section() -> str:
    """Return the table of rights."""
    rows = (
        (f"`{sender}`", f"`{receiver}`", ", ".join(f"`{message}`" for message in types))
        for sender, receivers in rights.RIGHTS.items()
        for receiver, types in receivers.items()
        if sender != "bench"
    )
    explanation = inspect.cleandoc(rights.__doc__ or "")
    return f"## Rights\n\n{explanation}\n\n{table(rows, 'sender', 'receiver', 'messages')}\n"


def protocol() -> str:
    """Return the page of the protocol."""
    introduction = INTRODUCTION.format(
        window=envelope.STREAM_WINDOW, every=envelope.STREAM_WINDOW // 4
    )
    kinds = classes(envelope)["Kind"]
    described = dict(attributes(kinds))
    kind_rows = (
        (str(kind.value), f"`{kind.name}`", described[kind.name]) for kind in envelope.Kind
    )
    limits = (
        f"A head has at most {envelope.MAX_HEAD_BYTES} bytes, a body at most"
        f" {envelope.MAX_BODY_BYTES}. The protocol's version is {envelope.PROTOCOL_VERSION}.\n"
    )
    parts = [
        introduction,
        "## Head\n\n" + limits,
        structure(envelope.Head, classes(envelope)["Head"]),
        "### Kind\n\n" + table(kind_rows, "value", "name", "meaning") + "\n",
        "## Errors\n",
        structure(errors.ErrorBody, classes(errors)["ErrorBody"]),
        enumeration(classes(errors)["ErrorCode"], errors.ErrorCode),
        *(module_section(name) for name in MODULES),
        rights_section(),
    ]
    return "\n".join(parts)


def declared_tools() -> list[tuple[str, Tool[Any]]]:
    """Return every declared tool with its owner. Nothing is called, so nothing needs a vault."""
    nothing: Any = None
    found: list[tuple[str, Tool[Any]]] = [
        *(("vault", tool) for tool in vault_tools(nothing, nothing)),
        *(("agenda", tool) for tool in clock_tools(nothing, nothing)),
        *(("agenda", tool) for tool in agenda_tools(nothing)),
        *(("agenda", tool) for tool in health_tools(nothing)),
        *(("memory", tool) for tool in memory_tools(nothing)),
    ]
    return sorted(found, key=lambda pair: pair[1].name)


def tool_section(owner: str, tool: Tool[Any]) -> str:
    """Return the section of one tool."""
    schema = parameters_schema(tool.arguments)
    required = set(schema.get("required", ()))
    rows = (
        (
            f"`{name}`",
            "/".join(map(str, kind.get("enum", [kind.get("type", "any")]))),
            "required" if name in required else "optional",
            kind.get("description", ""),
        )
        for name, kind in schema.get("properties", {}).items()
    )
    lines = [
        f"## {tool.name}\n\n{tool.description}\n",
        f"Owner: `{owner}`. Effect: {tool.effect}."
        + (f" Receipt: {tool.receipt}." if tool.receipt else "")
        + "\n",
        table(rows, "argument", "type", "", "meaning") + "\n" if schema.get("properties") else "",
        "Said like: " + "; ".join(f"“{hint}”" for hint in tool.hints) + ".\n",
    ]
    return "\n".join(line for line in lines if line)


def tools() -> str:
    """Return the page of the tools."""
    sections = [tool_section(owner, tool) for owner, tool in declared_tools()]
    return (
        "# Tools\n\nThis page is made from the tools' declarations by `docs/generate.py`.\n\n"
        + "\n".join(sections)
    )


def settings() -> str:
    """Return the page of the settings."""
    described = {name: dict(attributes(node)) for name, node in classes(config).items()}
    return settings_page(described)


PAGES = (("protocol.md", protocol), ("tools.md", tools), ("configuration.md", settings))


def main() -> int:
    """Write the pages, or with ``--check`` say which of them is out of date."""
    stale = 0
    for name, make in PAGES:
        page, text = HERE / name, make()
        if "--check" not in sys.argv:
            page.write_text(text, "utf-8")
        elif not page.exists() or page.read_text("utf-8") != text:
            sys.stderr.write(f"docs/{name} is out of date: run `make docs`\n")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
