"""The registered tools: the one source of schema, prompt text, grammar and documentation."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from actors.gatekeeper.vetting import Vetted, vetted
from eris.errors import ConflictError, ErisError, InvalidError
from proto.gatekeeper import ListedTool, ToolList
from proto.tools import ToolDeclaration

TOOL_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}:[a-z][a-z0-9_-]{0,31}")

MOST_TOOLS = 256
"""Tools of one owner."""

LONGEST_DESCRIPTION = 600
"""Characters: the description stands in the prompt."""

_DIGEST_LETTERS = 16


@dataclass(frozen=True)
class RegisteredTool:
    """A tool, who carries it out, and its schema as Python values."""

    declaration: ToolDeclaration
    owner: str
    schema: Mapping[str, Any]
    """Its own, or that of any object if its own can't be used."""
    notes: tuple[str, ...] = ()
    """What can't be enforced or checked of its own schema, each with its place and the reason."""
    open_grammar: bool = False
    """Whether the grammar takes any object, because one of the schema can't be made."""
    confirmed: bool = True
    """Whether the owner has registered it since the gatekeeper started; a remembered one is used
    until then, so that a turn isn't left without its tools."""

    @property
    def name(self) -> str:
        """``area:verb``."""
        return self.declaration.name


class Registry:
    """All tools by name. An unchanging value: `with_tools` returns another."""

    def __init__(self, tools: Mapping[str, RegisteredTool] | None = None) -> None:
        self._tools = dict(sorted((tools or {}).items()))
        self.revision = _revision(self._tools)
        """Digest: equal revisions mean equal lists."""

    def get(self, name: str) -> RegisteredTool | None:
        """Return a tool, or None."""
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all tools, sorted."""
        return tuple(self._tools)

    def listed(self) -> ToolList:
        """The registry as it travels."""
        return ToolList(
            revision=self.revision,
            tools=tuple(
                ListedTool(declaration=tool.declaration, owner=tool.owner)
                for tool in self._tools.values()
            ),
        )

    def with_tools(self, owner: str, declarations: Sequence[ToolDeclaration]) -> "Registry":
        """Return a registry in which an owner has exactly these tools.

        Raises:
            InvalidError: A declaration is wrong; none of them is taken then.
            ConflictError: Another owner has registered a tool of that name.
        """
        if len(declarations) > MOST_TOOLS:
            raise InvalidError(
                f"{owner} declares {len(declarations)} tools, more than {MOST_TOOLS}.",
                hint="Declare fewer.",
            )
        tools = {name: tool for name, tool in self._tools.items() if tool.owner != owner}
        for declaration in declarations:
            known = tools.get(declaration.name)
            if known is not None and (known.confirmed or known.owner == owner):
                raise ConflictError(
                    f"{owner} declares the tool {declaration.name}, which {known.owner} has.",
                    hint="Give one of them another name.",
                )
            sound = checked(declaration)
            tools[declaration.name] = RegisteredTool(
                declaration, owner, sound.schema, sound.notes, sound.open_grammar
            )
        return Registry(tools)


def checked(declaration: ToolDeclaration) -> Vetted:
    """Return what is used of the schema of a declaration that is otherwise sound.

    Raises:
        InvalidError: It isn't; says what is wrong.
    """
    name = declaration.name
    hint = "Correct the declaration of the tool."
    if not TOOL_NAME.fullmatch(name):
        raise InvalidError(
            f"The tool name {name[:80]!r} isn't of the form area:verb, in small letters.", hint=hint
        )
    if not 0 < len(declaration.description.strip()) <= LONGEST_DESCRIPTION:
        raise InvalidError(
            f"The description of {name} must have 1 to {LONGEST_DESCRIPTION} characters.", hint=hint
        )
    found = vetted(name, declaration.parameters.encode(errors="surrogatepass"))
    properties = found.schema.get("properties", {})
    for alias, target in declaration.aliases.items() if found.own else ():
        if target not in properties:
            raise InvalidError(
                f"The alias {alias} of {name} stands for {target}, which isn't an argument.",
                hint=hint,
            )
        if alias in properties:
            raise InvalidError(
                f"The alias {alias} of {name} is the name of an argument itself.", hint=hint
            )
    return found


def remember(registry: Registry, path: Path) -> None:
    """Write the registry to a file, as a whole or not at all.

    Raises:
        OSError: It can't be written.
    """
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(msgspec.json.encode(registry.listed()))
    temporary.replace(path)


def recall(path: Path) -> Registry:
    """Return what `remember` wrote, unconfirmed; empty if there's nothing that can be read."""
    try:
        listed = msgspec.json.decode(path.read_bytes(), type=ToolList)
        registry = Registry()
        for owner in sorted({tool.owner for tool in listed.tools}):
            own = [tool.declaration for tool in listed.tools if tool.owner == owner]
            registry = registry.with_tools(owner, own)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, ErisError):
        return Registry()
    tools = {name: registry.get(name) for name in registry.names}
    return Registry(
        {name: replace(tool, confirmed=False) for name, tool in tools.items() if tool is not None}
    )


def _revision(tools: Mapping[str, RegisteredTool]) -> str:
    digest = hashlib.sha256()
    for tool in tools.values():
        digest.update(msgspec.json.encode((tool.owner, tool.declaration)) + b"\n")
    return digest.hexdigest()[:_DIGEST_LETTERS]
