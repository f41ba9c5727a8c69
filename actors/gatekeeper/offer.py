"""What the model is offered: one set of tools, from which prompt text and grammar are both made."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from actors.gatekeeper.normalisation import resolve, types_of
from actors.gatekeeper.permissions import why_not
from actors.gatekeeper.registry import RegisteredTool, Registry
from actors.gatekeeper.schemas import shortened
from actors.gatekeeper.vetting import ANY_OBJECT
from eris.envelope import Envelope, ToolCall, render_envelope
from eris.grammar import COMPACT, Form, SubsetCache, ToolSchema, dump
from eris.grammar.envelope_schema import envelope_schema
from eris.grammar.json_text import DEFAULT_FORM
from proto.gatekeeper import Offered
from proto.tools import Origin

MOST_OFFERED = 32
"""Tools of one offer: each costs prompt tokens, and a small model gets lost among many."""

MOST_GRAMMAR_BYTES = 200_000
"""Above this a set is halved: engines refuse, or crawl with, grammars that are too large."""

_DEEPEST = 4

# What a third party's schema may take of the prompt.
_MOST_ARGUMENTS = 24
_MOST_MEMBERS = 24
_LONGEST_TEXT = 300

UNSAID = "..."
"""Stands for what the model has to say itself."""

_PLACEHOLDERS: Mapping[str, object] = {
    "string": UNSAID,
    "integer": 1,
    "number": 1,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}


@dataclass(frozen=True)
class OfferedSet:
    """The decision: what is offered, in the order of the candidates, and what isn't and why."""

    tools: tuple[RegisteredTool, ...]
    left_out: Mapping[str, str]

    def without_last(self, count: int) -> "OfferedSet":
        """Return the set without its last tools, which are left out for want of room."""
        kept, dropped = self.tools[:-count], self.tools[-count:]
        reason = "the grammar of all of them would be too large"
        return OfferedSet(kept, {**self.left_out, **{tool.name: reason for tool in dropped}})


def offered_set(
    candidates: Sequence[str], origin: Origin, registry: Registry, denied: Collection[str]
) -> OfferedSet:
    """Decide what a turn is offered. Nothing else decides it.

    Args:
        candidates: Names, the likeliest first.
        origin: Who started the turn.
        registry: The registered tools.
        denied: The deny list of the settings.
    """
    tools: list[RegisteredTool] = []
    left_out: dict[str, str] = {}
    for name in dict.fromkeys(candidates):
        tool = registry.get(name)
        if tool is None:
            left_out[name] = "there is no such tool"
        elif reason := why_not(name, tool.declaration.effect, origin, denied):
            left_out[name] = reason
        elif len(tools) >= MOST_OFFERED:
            left_out[name] = f"{MOST_OFFERED} tools are offered already"
        else:
            tools.append(tool)
    return OfferedSet(tuple(tools), left_out)


def offer(chosen: OfferedSet, grammars: SubsetCache, *, with_schema: bool = False) -> Offered:
    """Return grammar and text of an offered set, halved until the grammar has a usable size.

    Args:
        chosen: What is offered.
        grammars: Where compiled grammars are kept.
        with_schema: Add JSON Schemas of the same answers.
    """
    while True:
        schemas = [grammar_schema(tool) for tool in chosen.tools]
        # Where nothing can be called, saying nothing is no answer.
        compiled = grammars.get(schemas, must_say=not schemas)
        if len(compiled.text) <= MOST_GRAMMAR_BYTES or len(chosen.tools) <= 1:
            break
        chosen = chosen.without_last(len(chosen.tools) // 2)
    return Offered(
        tools=tuple(tool.name for tool in chosen.tools),
        grammar=compiled.text,
        text=tools_text(chosen.tools, grammars.form),
        key=compiled.key,
        left_out=dict(chosen.left_out),
        calling_grammar=grammars.get(schemas, must_call=True).text if schemas else "",
        schema=_schema(schemas, grammars) if with_schema else "",
        calling_schema=_schema(schemas, grammars, must=True) if with_schema and schemas else "",
    )


def _schema(tools: Sequence[ToolSchema], grammars: SubsetCache, *, must: bool = False) -> str:
    limits = grammars.limits
    schema = envelope_schema(
        tools,
        max_calls=limits.max_calls,
        thought_max=limits.thought_max,
        must_call=must,
        must_say=not tools,
    )
    return dump(schema, COMPACT)


def grammar_schema(tool: RegisteredTool) -> ToolSchema:
    """Return what the grammar is made from."""
    return ToolSchema(tool.name, ANY_OBJECT if tool.open_grammar else tool.schema)


def tools_text(tools: Sequence[RegisteredTool], form: Form = DEFAULT_FORM) -> str:
    """Return the description of some tools for the prompt; empty for none.

    A small model copies what it's shown, so every tool comes with a whole answer that calls it, in
    exactly the form that the grammar forces. Shown the bare call only, a model of 0.5B parameters
    called the right tool for 2 of 6 requests and claimed to have done the rest; shown the answer,
    for 5 of 6. Its arguments are left open, for it copies a path from an example too.
    """
    return "\n".join(_tool_text(tool, form) for tool in tools)


def _tool_text(tool: RegisteredTool, form: Form) -> str:
    lines = [f"- {tool.name}: {tool.declaration.description.strip()}"]
    lines += islice(_arguments_text(tool.schema, tool.schema, 1), _MOST_ARGUMENTS)
    lines.append(f"    to use it, answer: {_example_answer(tool, form)}")
    return "\n".join(lines)


def example_call(name: str, schema: Mapping[str, Any]) -> str:
    """Return a call of a tool as the grammar forces it: required arguments and those with examples.

    Used in the prompt, and in errors that say how to do it right.
    """
    return dump({"name": name, "args": _example_object(schema, schema, 0)}, DEFAULT_FORM)


def _example_answer(tool: RegisteredTool, form: Form) -> str:
    arguments = _example_object(tool.schema, tool.schema, 0)
    call = ToolCall(tool.name, arguments)
    return render_envelope(Envelope(thought=UNSAID, tool_calls=(call,)), form)


def _arguments_text(
    schema: Mapping[str, Any], root: Mapping[str, Any], depth: int
) -> Iterator[str]:
    """Return a line for each argument; those of objects within follow it, further indented."""
    required = schema.get("required", ())
    for name, argument in islice(schema.get("properties", {}).items(), _MOST_ARGUMENTS):
        own, described = _described(argument, root)
        told = str(own.get("description") or described.get("description") or "")
        kind = _kind(argument, root, depth)
        notes = (
            shortened(told.strip().rstrip("."), _LONGEST_TEXT),
            "" if kind == "text" and told else kind,
            "" if name in required else "optional",
        )
        yield f"{'  ' * (depth + 1)}{name}: {'; '.join(note for note in notes if note)}"
        items = _described(described.get("items"), root)[1] if "items" in described else described
        if "properties" in items and depth < _DEEPEST:
            yield from _arguments_text(items, root, depth + 1)


def _kind(schema: object, root: Mapping[str, Any], depth: int) -> str:
    described = _described(schema, root)[1]
    if members := described.get("enum"):
        return _members_text(members)
    kinds = sorted(types_of(schema, root) - {"null"})
    if kinds == ["array"] and isinstance(described.get("items"), Mapping) and depth < _DEEPEST:
        return f"array of {_kind(described['items'], root, depth + 1)}"
    return " or ".join("text" if kind == "string" else kind for kind in kinds) or "any"


def _described(
    schema: object, root: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return what a schema says itself, and what it refers to."""
    resolved = resolve(schema, root)
    return (
        schema if isinstance(schema, Mapping) else {},
        resolved if isinstance(resolved, Mapping) else {},
    )


def _members_text(members: Sequence[object]) -> str:
    told = [dump(member, DEFAULT_FORM) for member in members[:_MOST_MEMBERS]]
    kept = [text for text in told if len(text) <= _LONGEST_TEXT]
    more = [] if len(kept) == len(members) else ["..."]
    return " or ".join([*kept, *more])


def _example_object(
    schema: Mapping[str, Any], root: Mapping[str, Any], depth: int
) -> dict[str, object]:
    properties = schema.get("properties", {})
    # An object within that needs nothing would be shown, and copied, empty.
    required = schema.get("required") or (properties if depth else ())
    return {
        name: _example(argument, root, depth + 1)
        for name, argument in islice(properties.items(), _MOST_ARGUMENTS)
        if name in required or (isinstance(argument, Mapping) and argument.get("examples"))
    }


def _example(schema: object, root: Mapping[str, Any], depth: int) -> object:
    own, described = _described(schema, root)
    for source in (own, described):
        if source.get("examples"):
            return source["examples"][0]
        for keyword in ("const", "default"):
            if source.get(keyword) is not None:
                return source[keyword]
    if described.get("enum"):
        return described["enum"][0]
    if "properties" in described and depth < _DEEPEST:
        return _example_object(described, root, depth)
    kinds = sorted(types_of(described, root) - {"null"})
    return _PLACEHOLDERS[kinds[0]] if kinds else UNSAID
