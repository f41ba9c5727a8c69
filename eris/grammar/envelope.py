"""The grammar of a whole answer: thought, status, message and calls of the offered tools."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from eris.grammar.compiler import Compiled, SchemaCompiler, digest, finish
from eris.grammar.containers import any_value, scalars
from eris.grammar.context import Options
from eris.grammar.effort import bounded
from eris.grammar.errors import SchemaNotUsable, SchemaTooLarge
from eris.grammar.expression import (
    Expression,
    Grammar,
    Literal,
    RuleBook,
    choice,
    repeat,
    sequence,
)
from eris.grammar.json_text import DEFAULT_FORM, NULL, Form, any_char, dump, quoted
from eris.grammar.place import Place
from eris.grammar.printer import print_grammar
from eris.grammar.report import Enforcement, Finding, Report
from eris.grammar.size import Size, size_of
from eris.grammar.strings import bounded_repeat
from eris.grammar.weight import weigh

STATUSES = ("Task", "Reflect", "Idle", "Process")
_MOST_RULES = 200_000
MOST_OF_TOOL = Size(nodes=12_000, characters=60_000)
"""What the arguments of one tool may take; a larger schema is checked afterwards instead."""
MOST_OF_ALL = Size(nodes=40_000, characters=1_000_000)
"""What the arguments of all tools may take together; llguidance has room for 65,000 symbols."""
_THOUGHT = '\nthought ::= "\\"'
"""How the rule of the thought begins, up to its first character."""
_ANY_OBJECT = Place("#object", {"type": "object"})


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as the grammar sees it.

    Attributes:
        name: The full name, such as `vault:read`.
        schema: JSON Schema of its arguments.
    """

    name: str
    schema: Mapping[str, object] | bool


@dataclass(frozen=True, slots=True)
class EnvelopeLimits:
    """Bounds on the parts of an answer.

    Attributes:
        max_calls: Most tool calls in one answer.
        thought_max: Most characters of `thought`.
        must_call: At least one call, and no message.
        must_say: A message that isn't empty.
    """

    max_calls: int = 4
    thought_max: int = 400
    must_call: bool = False
    must_say: bool = False


DEFAULT_LIMITS = EnvelopeLimits()


def envelope_grammar(
    tools: Sequence[ToolSchema],
    *,
    form: Form = DEFAULT_FORM,
    max_calls: int = DEFAULT_LIMITS.max_calls,
    thought_max: int = DEFAULT_LIMITS.thought_max,
    must_call: bool = False,
    must_say: bool = False,
) -> Compiled:
    """Compile the grammar of an answer that may call these tools and no others.

    With ``must_call`` the answer calls at least one of them and says nothing to the user yet: for
    the moment when it's certain that a tool is needed, and a small model would rather claim to
    have used it. With ``must_say`` it says something: for the moment when nothing can be called any
    more, and a small model would rather say nothing at all.

    A tool whose schema can't be compiled takes any JSON object instead; the report says so, and
    its arguments have to be validated afterwards. The order of the tools doesn't matter.

    Raises:
        ValueError: Two tools have the same name, a limit makes no sense, or a call is demanded
            without any tool or together with a message.
    """
    if must_call and (must_say or not tools):
        raise ValueError("must_call without any tool, or with must_say")
    if max_calls < 1 or thought_max < 0:
        raise ValueError(f"max_calls={max_calls}, thought_max={thought_max}: too small")
    ordered = sorted(tools, key=lambda tool: tool.name)
    names = [tool.name for tool in ordered]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"tools with the same name: {', '.join(twice)}")
    options = Options(form=form)
    limits = EnvelopeLimits(max_calls, thought_max, must_call, must_say)
    try:
        grammar, report = _envelope(ordered, options, limits, checked=False)
    except SchemaNotUsable:
        # One of the tools is too much for the engines: check each by itself to find which.
        grammar, report = _envelope(ordered, options, limits, checked=True)
    described = [
        [(tool.name, tool.schema) for tool in ordered],
        (max_calls, thought_max, must_call, must_say),
    ]
    return Compiled(print_grammar(grammar), grammar, report, digest(described, options))


def with_thought(grammar: str, words: str) -> str:
    """Return an answer's grammar whose thought begins with these words.

    The bound on the thought counts what follows them.

    Args:
        grammar: GBNF text of `envelope_grammar`; one without a thought stays as it is.
        words: Plain ASCII without quotes and backslashes, which mean the same in JSON and GBNF.
    """
    return grammar.replace(_THOUGHT, f"{_THOUGHT}{words}", 1)


def _envelope(
    tools: list[ToolSchema], options: Options, limits: EnvelopeLimits, *, checked: bool
) -> tuple[Grammar, Report]:
    rules = RuleBook()
    form = options.form
    call = form.inner.inner
    inside = replace(options, form=call.inner)
    compiled = [_arguments(rules, tool, inside, checked=checked) for tool in tools]
    _make_room(compiled, any_value(rules, inside.form).object)
    calls: list[Expression | None] = []
    for tool, part in zip(tools, compiled, strict=True):
        name = f'"name"{form.colon}{dump(tool.name)}'
        key = f'{{{call.opening}{name}{call.between}"args"{form.colon}'
        calls.append(sequence(Literal(key), part.value, Literal(f"{call.closing}}}")))
    rules.limit, rules.parts_limit = _MOST_RULES, None
    root = _root(rules, form, choice(calls), limits)
    findings = tuple(finding for part in compiled for finding in part.findings)
    return finish(rules, root), Report(findings)


def _root(
    rules: RuleBook, form: Form, call: Expression | None, limits: EnvelopeLimits
) -> Expression:
    thought = bounded_repeat(rules, "thought", any_char(rules), 0, limits.thought_max)
    known = scalars(rules)
    statuses = choice(Literal(dump(status, form)) for status in STATUSES)
    message: Expression | None = choice([known["string"], known["null"]])
    if limits.must_call:
        message = known["null"]
    elif limits.must_say:
        message = quoted(repeat(any_char(rules), 1, None))
    listed = form.inner
    calls: Expression = Literal("[]")
    if call is not None:
        one = rules.define("call", call)
        more = repeat(sequence(Literal(listed.between), one), 0, limits.max_calls - 1)
        some = sequence(Literal(f"[{listed.opening}"), one, more, Literal(f"{listed.closing}]"))
        calls = rules.define(
            "calls", some if limits.must_call else choice([Literal("[]"), some]) or some
        )
    parts = {
        "thought": rules.define("thought", quoted(thought)),
        "status": rules.define("status", statuses or NULL),
        "message_to_user": rules.define("message", message or NULL),
        "tool_calls": calls,
    }
    pieces: list[Expression] = []
    before = f"{{{form.opening}"
    for key, value in parts.items():
        pieces += [Literal(f'{before}"{key}"{form.colon}'), value]
        before = form.between
    return sequence(*pieces, Literal(f"{form.closing}}}"))


@dataclass(slots=True)
class _Arguments:
    """The arguments of one tool."""

    tool: str
    value: Expression
    size: Size
    findings: tuple[Finding, ...]

    def widen(self, free: Expression, path: str, reason: str) -> None:
        """Take any object instead, and say why."""
        taken = f"taken as any object: {reason}"
        later = Enforcement.CHECKED_AFTERWARDS
        self.value, self.size = free, Size()
        self.findings = (Finding(path, "$schema", later, taken, self.tool),)


def _arguments(rules: RuleBook, tool: ToolSchema, options: Options, *, checked: bool) -> _Arguments:
    """Compile one tool's arguments; if that fails, nothing of them is left among the rules."""
    free = any_value(rules, options.form).object
    part = _Arguments(tool.name, free, Size(), ())
    mark = rules.mark()
    rules.limit = len(rules.rules) + options.rules
    rules.parts, rules.parts_limit = 0, MOST_OF_TOOL.nodes
    try:
        weigh(tool.schema)
        compiler = SchemaCompiler(tool.schema, rules, options)
        with bounded():
            root = compiler.root(_ANY_OBJECT, hint=f"{tool.name}-args")
        size = _size(root, islice(rules.rules.values(), mark[0], None))
        if compiler.recursive or checked:
            finish(rules, root)
    except SchemaNotUsable as error:
        rules.rollback(mark)
        part.widen(free, error.path, error.reason)
        return part
    part.value, part.size = root, size
    part.findings = _findings(compiler, tool)
    return part


def _size(root: Expression, rules: Iterable[Expression]) -> Size:
    """Measure the arguments of one tool.

    Raises:
        SchemaTooLarge: They take more than one tool may.
    """
    size = size_of([root, *rules])
    if not size.fits(MOST_OF_TOOL):
        most = f"more than {MOST_OF_TOOL.nodes} or {MOST_OF_TOOL.characters}"
        told = f"its grammar has {size.nodes} parts and {size.characters} characters"
        raise SchemaTooLarge("#", f"{told}, {most}")
    return size


def _findings(compiler: SchemaCompiler, tool: ToolSchema) -> tuple[Finding, ...]:
    return tuple(
        replace(finding, tool=tool.name)
        for finding in compiler.report.report()
        if finding.path != _ANY_OBJECT.pointer
    )


def _make_room(parts: Sequence[_Arguments], free: Expression) -> None:
    """Widen the largest tools until all of them together are small enough."""
    total = sum((part.size for part in parts), Size())
    for part in sorted(parts, key=lambda part: part.size, reverse=True):
        if total.fits(MOST_OF_ALL):
            break
        size = part.size
        total = Size(total.nodes - size.nodes, total.characters - size.characters)
        told = f"its grammar has {size.nodes} parts and {size.characters} characters"
        part.widen(free, "#", f"there are too many large tools beside it, and {told}")


def arguments_grammar(tool: ToolSchema, *, form: Form = DEFAULT_FORM) -> Compiled:
    """Compile the grammar of one tool's arguments alone: an object that fits its schema.

    Raises:
        SchemaNotUsable: There's no such grammar; in an envelope any object is taken instead.
    """
    options = Options(form=form)
    rules = RuleBook(limit=options.rules, parts_limit=MOST_OF_TOOL.nodes)
    weigh(tool.schema)
    compiler = SchemaCompiler(tool.schema, rules, options)
    with bounded():
        root = compiler.root(_ANY_OBJECT, hint=f"{tool.name}-args")
    _size(root, rules.rules.values())
    grammar = finish(rules, root)
    report = Report(_findings(compiler, tool))
    return Compiled(
        print_grammar(grammar), grammar, report, digest([tool.name, tool.schema], options)
    )


class SubsetCache:
    """Compiled envelopes by the set of tools they offer, the most recently used ones kept.

    Not safe for several threads at once; it belongs to one actor.
    """

    def __init__(
        self, size: int = 256, *, form: Form = DEFAULT_FORM, limits: EnvelopeLimits = DEFAULT_LIMITS
    ) -> None:
        self.size = size
        self.form = form
        self.limits = limits
        self.hits = 0
        self.misses = 0
        self._compiled: OrderedDict[tuple[bool, bool, tuple[tuple[str, str], ...]], Compiled] = (
            OrderedDict()
        )
        self._hashes: dict[str, tuple[object, str]] = {}

    def __len__(self) -> int:
        return len(self._compiled)

    def get(
        self, tools: Sequence[ToolSchema], *, must_call: bool = False, must_say: bool = False
    ) -> Compiled:
        """Give the envelope grammar for a set of tools, compiled at most once while it's kept.

        Raises:
            ValueError: Two tools have the same name, or there's none and a call is demanded.
        """
        key = (must_call, must_say, tuple(sorted((tool.name, self._hash(tool)) for tool in tools)))
        known = self._compiled.get(key)
        if known is not None:
            self.hits += 1
            self._compiled.move_to_end(key)
            return known
        self.misses += 1
        compiled = envelope_grammar(
            tools,
            form=self.form,
            max_calls=self.limits.max_calls,
            thought_max=self.limits.thought_max,
            must_call=must_call,
            must_say=must_say,
        )
        self._compiled[key] = compiled
        while len(self._compiled) > self.size:
            self._compiled.popitem(last=False)
        return compiled

    def _hash(self, tool: ToolSchema) -> str:
        """Hash a schema once per schema object, since tools are declared once and kept."""
        known = self._hashes.get(tool.name)
        if known is not None and known[0] is tool.schema:
            return known[1]
        value = digest(tool.schema, Options(form=self.form))
        self._hashes[tool.name] = (tool.schema, value)
        return value
