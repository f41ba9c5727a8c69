"""Declaring tools: one declaration, in the actor that owns the tool.

Name, description, example phrases, arguments, effect and handler stand together; the JSON Schema,
the grammar, the prompt text, the routing vectors, the permission check and the documentation all
come from here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from eris.actor import Actor, Deferred, Request
from eris.errors import ErisError, RemoteError
from proto.control import Done
from proto.errors import ErrorCode
from proto.gatekeeper import RegisterTools
from proto.tools import CallTool, Effect, Origin, ToolDeclaration, ToolResult

A = TypeVar("A", bound=msgspec.Struct)

GATEKEEPER = "gatekeeper"
_REGISTER_SECONDS = 30.0


@dataclass(frozen=True)
class Call:
    """What a handler may know about the call besides its arguments."""

    call_id: str
    """Idempotency key: the same one must not act twice."""
    origin: Origin
    """Who started the turn."""
    session: str
    """Session the turn belongs to."""
    turn: str = ""
    said: str = ""
    """What the user said in that turn, cut to 2,000 characters."""
    untrusted: str = ""
    """Where text from outside that the model has seen comes from; empty if it has seen none."""


@dataclass(frozen=True)
class Outcome:
    """What a handler did."""

    content: str
    """Text for the model."""
    receipt: str = ""
    """For people, in the past tense; only for a tool that changes something."""
    data: Mapping[str, str | int] = field(default_factory=dict)
    """Facts for programs."""
    untrusted: str = ""
    """Where text from outside in ``content`` comes from; empty if there is none."""


@dataclass(frozen=True, kw_only=True)
class Tool(Generic[A]):
    """One tool."""

    name: str
    """``area:verb``."""
    description: str
    """One sentence for the model: what it does and when to use it."""
    hints: tuple[str, ...]
    """Example phrases of users who need it."""
    arguments: type[A]
    """Struct of the arguments; descriptions by ``Annotated[..., Meta(description=...)]``."""
    handler: Callable[[A, Call], Outcome]
    """Does the work, on a worker thread; an `ErisError` it raises is told to the model."""
    effect: Effect
    """What it may touch."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Argument names that models invent, and the right one for each."""
    receipt: str = ""
    """Past-tense form of the receipt, for documentation."""

    def declaration(self) -> ToolDeclaration:
        """The declaration as it travels to the gatekeeper."""
        return ToolDeclaration(
            name=self.name,
            description=self.description,
            hints=self.hints,
            parameters=msgspec.json.encode(parameters_schema(self.arguments)).decode(),
            aliases=dict(self.aliases),
            effect=self.effect,
            receipt=self.receipt,
        )


def parameters_schema(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of an arguments Struct, closed to unknown properties.

    The Struct itself is written in place instead of behind a reference, so that a reader of the
    schema, or a model, sees the properties at once.
    """
    schema = msgspec.json.schema(arguments)
    definitions = schema.get("$defs", {})
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    top = dict(definitions.pop(name)) if name else dict(schema)
    top.pop("title", None)
    top.pop("description", None)
    top["additionalProperties"] = False
    if definitions:
        top["$defs"] = definitions
    return top


class ToolBox:
    """The tools of one actor."""

    def __init__(self, tools: Sequence[Tool[Any]]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def declarations(self) -> tuple[ToolDeclaration, ...]:
        """What is registered at the gatekeeper."""
        return tuple(tool.declaration() for tool in self._tools.values())

    def execute(self, request: CallTool) -> ToolResult:
        """Carry out a call. A failure that Eris raises on purpose is a result, not an exception."""
        tool = self._tools.get(request.tool)
        if tool is None:
            return ToolResult(
                ok=False,
                content=f"There is no tool {request.tool!r} here.",
                code=ErrorCode.NOT_FOUND,
            )
        call = Call(
            call_id=request.call_id,
            origin=request.origin,
            session=request.session,
            turn=request.turn,
            said=request.said,
            untrusted=request.untrusted,
        )
        try:
            arguments = msgspec.json.decode(request.arguments, type=tool.arguments)
            outcome = tool.handler(arguments, call)
        except msgspec.DecodeError as error:
            return ToolResult(
                ok=False,
                content=f"The arguments of {tool.name} don't fit: {error}.",
                code=ErrorCode.INVALID,
            )
        except ErisError as error:
            return ToolResult(
                ok=False, content=f"{error.message} {error.hint}".strip(), code=error.code
            )
        return ToolResult(
            ok=True,
            content=outcome.content,
            receipt=outcome.receipt,
            data=dict(outcome.data),
            untrusted=outcome.untrusted,
        )


class ToolOwner(Actor):
    """Base of an actor that owns tools: registers them, and carries calls out on a worker.

    A subclass makes its `toolbox` in `started`. One that takes other requests too extends
    `ACCEPTS` and `receive`.
    """

    ACCEPTS: ClassVar[Any] = CallTool

    toolbox: ToolBox

    def peer_up(self, name: str, incarnation: int) -> None:
        """Register the tools at every new incarnation of the gatekeeper."""
        if name == GATEKEEPER:
            self.port.submit(self._register, incarnation)

    def receive(self, request: Request) -> msgspec.Struct | Deferred:
        """Carry out a call."""
        self.port.submit(self._execute, request)
        return request.defer()

    def _execute(self, request: Request) -> None:
        try:
            request.reply(self.toolbox.execute(request.body))
        except Exception as error:
            request.fail(error)
            raise

    def _register(self, incarnation: int) -> None:
        tools = self.toolbox.declarations()
        try:
            self.port.ask(
                GATEKEEPER, RegisterTools(tools=tools), Done, within=_REGISTER_SECONDS, retry=True
            )
        except RemoteError as error:
            # A newer gatekeeper, if that's the reason, is announced and registered at anew.
            self.port.log.warning("not-registered", error=error.message, incarnation=incarnation)
        else:
            self.port.log.info("registered", tools=[tool.name for tool in tools])
