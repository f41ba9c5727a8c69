"""Reads a file that holds a JSON Schema, or tools in one of the ways they are declared."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

import click

from eris.grammar import ToolSchema

_SCHEMA_KEYS = ("parameters", "inputSchema", "input_schema")
"""Where the schema of the arguments is: in Eris and OpenAI, in MCP, elsewhere."""


@dataclass(frozen=True)
class SchemaFile:
    """What a file holds: tools, or one schema of its own."""

    tools: tuple[ToolSchema, ...] = ()
    schema: object = None


def read_schemas(text: str, name: str) -> SchemaFile:
    """Understand the text of a file.

    Args:
        text: JSON: a schema, a tool (`name` and `parameters`), or a list of tools, bare or under
            `tools`, each also in the way of OpenAI (`{"type": "function", "function": …}`).
        name: What the file is called in messages.

    Raises:
        UsageError: It isn't JSON (says line and column), or a tool in it can't be understood.
    """
    value = _parse(text, name)
    if isinstance(value, Mapping) and isinstance(value.get("tools"), list):
        value = value["tools"]
    if isinstance(value, list):
        return SchemaFile(tuple(_tool(one, f"{name}[{i}]") for i, one in enumerate(value)))
    if _is_tool(value):
        return SchemaFile((_tool(value, name),))
    return SchemaFile(schema=value)


def _parse(text: str, name: str) -> object:
    def refuse(constant: str) -> NoReturn:
        raise click.UsageError(f"{name} isn't JSON: {constant} is no number of JSON.")

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise click.UsageError(f"{name} isn't JSON: {error.msg} at {place}.") from error
    except RecursionError as error:
        raise click.UsageError(f"{name} nests too deeply to be read.") from error


def _is_tool(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    if value.get("type") == "function" and isinstance(value.get("function"), Mapping):
        return True
    return isinstance(value.get("name"), str) and any(key in value for key in _SCHEMA_KEYS)


def _tool(value: object, place: str) -> ToolSchema:
    inner = value.get("function", value) if isinstance(value, Mapping) else value
    if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
        raise click.UsageError(f"{place} is no tool: it needs a name and parameters.")
    schema: object = next((inner[key] for key in _SCHEMA_KEYS if key in inner), {})
    if isinstance(schema, str):  # Eris's own declarations carry it as text
        schema = _parse(schema, f"{place}.parameters")
    # Anything may stand there; what is no schema is refused where schemas are compiled.
    return ToolSchema(str(inner["name"]), schema)  # type: ignore[arg-type]
