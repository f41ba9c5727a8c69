"""Objects and arrays as rules, with the commas right in every combination and in linear size.

A key is written together with what stands before and behind it (`, "name": `) as one piece of
text. That is more than tidiness: llguidance splits text into pieces greedily and doesn't go
back, so no piece may be the beginning of another that is possible at the same place.
"""

from dataclasses import dataclass, field

from eris.grammar.effort import spend
from eris.grammar.expression import (
    Expression,
    Literal,
    Reference,
    RuleBook,
    choice,
    repeat,
    sequence,
)
from eris.grammar.json_text import BOOLEAN, NULL, Form, any_char, dump, quoted
from eris.grammar.number_range import NUMBER
from eris.grammar.strings import bounded_repeat


@dataclass(frozen=True, slots=True)
class Member:
    """A declared property."""

    name: str
    value: Expression
    required: bool


@dataclass(frozen=True, slots=True)
class Extra:
    """Properties that aren't declared by name.

    Attributes:
        key: The contents of the key, without quotation marks.
        value: What such a property may hold.
    """

    key: Expression
    value: Expression


@dataclass(slots=True)
class ObjectChain:
    """Builds one object: declared members in their order, then any number of extras.

    Attributes:
        rules: Where rules go.
        form: The fixed text around values.
        hint: Beginning of the rules' names.
        members: Declared properties in their order.
        extras: Kinds of properties beyond those.
        minimum: Fewest properties.
        maximum: Most properties; None means without limit.
    """

    rules: RuleBook
    form: Form
    hint: str
    members: list[Member]
    extras: list[Extra]
    minimum: int = 0
    maximum: int | None = None
    _tails: dict[tuple[int, int], Expression | None] = field(default_factory=dict)

    @property
    def counted(self) -> int:
        """How far properties have to be counted."""
        return max(1, self.minimum, self.maximum or 0)

    def build(self) -> Expression | None:
        """Give the expression of the object; None if there can't be one."""
        for index in reversed(range(len(self.members))):
            if not self.members[index].required:
                for count in range(1, self.counted + 1):
                    self._tails[index, count] = self._tail(index, count)
        options: list[Expression | None] = []
        can_start = self.maximum is None or self.maximum > 0
        for index, member in enumerate(self.members):
            if can_start:
                options.append(
                    self._with(member, f"{{{self.form.opening}", self._rest(index + 1, 1))
                )
            if member.required:
                return choice(options)
        if can_start:
            end = self._end(1)
            options += [self._extra(extra, f"{{{self.form.opening}", end) for extra in self.extras]
        if self.minimum == 0:
            options.append(Literal("{}"))
        return choice(options)

    def _with(self, member: Member, before: str, rest: Expression | None) -> Expression | None:
        if rest is None:
            return None
        key = f"{before}{dump(member.name, self.form)}{self.form.colon}"
        return sequence(Literal(key), member.value, rest)

    def _extra(self, extra: Extra, before: str, rest: Expression | None) -> Expression | None:
        if rest is None:
            return None
        key = sequence(Literal(f'{before}"'), extra.key, Literal(f'"{self.form.colon}'))
        name = self.rules.define(f"{self.hint}-key", key)
        return sequence(name, extra.value, rest)

    def _rest(self, index: int, count: int) -> Expression | None:
        """Give what follows after `count` properties, from the member at `index` on."""
        parts: list[Expression] = []
        spend(30)
        for position in range(index, len(self.members)):
            member = self.members[position]
            if not member.required:
                tail = self._tails[position, count]
                return None if tail is None else sequence(*parts, tail)
            if self.maximum is not None and count >= self.maximum:
                return None
            count = min(count + 1, self.counted)
            key = f"{self.form.between}{dump(member.name, self.form)}{self.form.colon}"
            parts += [Literal(key), member.value]
        end = self._end(count)
        return None if end is None else sequence(*parts, end)

    def _tail(self, index: int, count: int) -> Expression | None:
        """Make the rule for an optional member and everything behind it."""
        member = self.members[index]
        without = self._rest(index + 1, count)
        after = min(count + 1, self.counted)
        full = self.maximum is not None and count >= self.maximum
        present = None if full else self._rest(index + 1, after)
        if present is not None and present == without:
            key = f"{self.form.between}{dump(member.name, self.form)}{self.form.colon}"
            whole: Expression | None = sequence(
                repeat(sequence(Literal(key), member.value), 0, 1), present
            )
        else:
            whole = choice([self._with(member, self.form.between, present), without])
        if whole is None or whole == without:
            return whole
        return self.rules.structure(f"{self.hint}-tail", whole)

    def _end(self, count: int) -> Expression | None:
        """Give the extras and the closing brace."""
        least = max(0, self.minimum - count)
        most = None if self.maximum is None else self.maximum - count
        if most is not None and most < least:
            return None
        close = Literal(f"{self.form.closing}}}")
        one = choice(self._extra(extra, self.form.between, Literal("")) for extra in self.extras)
        if one is None:
            return close if least == 0 else None
        if not isinstance(one, Reference):
            one = self.rules.structure(f"{self.hint}-more", one)
        return sequence(repeat(one, least, most), close)


@dataclass(frozen=True, slots=True)
class Items:
    """What an array holds.

    Attributes:
        prefix: Items of the first positions.
        rest: All further items; None means that there are none.
        minimum: Fewest items.
        maximum: Most items; None means without limit.
    """

    prefix: tuple[Expression, ...] = ()
    rest: Expression | None = None
    minimum: int = 0
    maximum: int | None = None


def array(rules: RuleBook, form: Form, hint: str, items: Items) -> Expression | None:
    """Build an array: its prefix, then further items; None if no array fits."""
    prefix, minimum, maximum = items.prefix, items.minimum, items.maximum
    if items.rest is None:
        maximum = len(prefix) if maximum is None else min(maximum, len(prefix))
    if maximum is not None and maximum < minimum:
        return None
    prefix = prefix[:maximum]
    empty = Literal("[]") if minimum == 0 else None
    first = prefix[0] if prefix else items.rest
    if maximum == 0 or first is None:
        return empty
    comma = Literal(form.between)
    close = Literal(f"{form.closing}]")
    onward: Expression = close
    if items.rest is not None:
        count = max(len(prefix), 1)
        most = None if maximum is None else maximum - count
        item = sequence(comma, items.rest)
        more = bounded_repeat(rules, hint, item, max(0, minimum - count), most)
        onward = sequence(more, onward)
    for position in reversed(range(1, len(prefix))):
        onward = sequence(comma, prefix[position], onward)
        if position >= minimum:
            both = choice([onward, close]) or onward
            onward = rules.structure(f"{hint}-tail", both)
    return choice([sequence(Literal(f"[{form.opening}"), first, onward), empty])


@dataclass(frozen=True, slots=True)
class AnyValue:
    """The rules of JSON values without any condition."""

    value: Reference
    object: Reference
    array: Reference


def any_value(rules: RuleBook, form: Form) -> AnyValue:
    """Define, once for each level of the form, the rules of any JSON value.

    On one line objects and arrays recur; a level that is written line by line holds the next one.
    """
    hint = "any-lines" if form.lines else "any"
    shared = [f"{hint}{part}/{form.lines}" for part in ("", "-object", "-array")]
    known = [rules.shared.get(name) for name in shared]
    if known[0] and known[1] and known[2]:
        return AnyValue(known[0], known[1], known[2])
    inner = any_value(rules, form.inner).value if form.lines else None
    name = rules.reserve(hint)
    value = Reference(name)
    member = inner or value
    text = repeat(any_char(rules), 0, None)
    close = sequence(Literal('"'), Literal(form.colon))
    open_object = Literal(f'{{{form.opening}"')
    first = rules.define(f"{hint}-first-key", sequence(open_object, text, close))
    more = rules.define(f"{hint}-more-key", sequence(Literal(f'{form.between}"'), text, close))
    further = repeat(sequence(more, member), 0, None)
    members = sequence(first, member, further, Literal(f"{form.closing}}}"))
    any_object = rules.define(f"{hint}-object", choice([Literal("{}"), members]) or members)
    items = array(rules, form, f"{hint}-array", Items(rest=member)) or value
    any_array = rules.define(f"{hint}-array", items)
    whole = choice([any_object, any_array, *scalars(rules).values()]) or value
    rules.set(name, whole)
    rules.shared.update(zip(shared, (value, any_object, any_array), strict=True))
    return AnyValue(value, any_object, any_array)


def scalars(rules: RuleBook) -> dict[str, Reference]:
    """Define, once, the rules of the types without parts."""
    return {
        "string": rules.define("string", quoted(repeat(any_char(rules), 0, None))),
        "number": rules.define("number", NUMBER),
        "boolean": rules.define("boolean", BOOLEAN),
        "null": rules.define("null", NULL),
    }
