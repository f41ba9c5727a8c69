"""The keywords of objects: declared, patterned and additional properties, counts."""

from dataclasses import dataclass
from itertools import combinations

from eris.grammar.containers import Extra, Member, ObjectChain
from eris.grammar.context import Context, bounds, later, mapping
from eris.grammar.document import Effort
from eris.grammar.errors import SchemaTooLarge
from eris.grammar.expression import EMPTY, Expression
from eris.grammar.json_text import NULL
from eris.grammar.nfa import matches
from eris.grammar.pattern import Node, PatternNotSupported, parse_pattern
from eris.grammar.place import Branch, Leaf, Place
from eris.grammar.report import Enforcement
from eris.grammar.string_schema import contents_of, text_condition
from eris.grammar.strings import BLOCK, TextCondition

_MOST_PATTERNS = 3
_MOST_LOOKED_UP = 100_000
_MOST_COUNTED = 4_000
_KEY_KEYWORDS = frozenset({"type", "pattern", "format", "minLength", "maxLength", "$ref", "allOf"})


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A key of `patternProperties`; the tree is None if it can't be compiled."""

    source: str
    tree: Node | None


@dataclass(frozen=True, slots=True)
class _Keys:
    """What is asked of keys: patterns, `propertyNames` (with its schemas), declared names."""

    patterns: dict[str, _Pattern]
    condition: TextCondition | None
    branch: Branch
    declared: frozenset[str]


def object_(context: Context, branch: Branch, hint: str) -> Expression | None:
    """Give the expression of objects that fit; None if there are none."""
    required = _required(context, branch)
    names: dict[str, None] = {}
    for leaf in branch:
        names.update(dict.fromkeys(mapping(context, leaf, "properties")))
        if "properties" in leaf.schema:
            context.report.exact(leaf.pointer, "properties")
    names.update(dict.fromkeys(required))
    if len(names) * len(branch) > _MOST_LOOKED_UP:
        told = f"{len(names)} properties in {len(branch)} schemas at once"
        raise SchemaTooLarge(branch[0].pointer, told)
    key_condition, key_branch = _key_condition(context, branch)
    keys = _Keys(_patterns(context, branch), key_condition, key_branch, frozenset(names))
    members: list[Member] = []
    for name in names:
        value: Expression | None = None
        if context.probing and name not in required:
            members.append(Member(name, NULL, required=False))
            continue
        if _may_be_key(name, key_condition):
            value = context.value(_places(context, branch, keys.patterns, name), name)
        if value is not None:
            members.append(Member(name, value, name in required))
        elif name in required:
            return None
        else:
            _report_impossible(context, branch, name)
    minimum, maximum = bounds(context, branch, "minProperties", "maxProperties")
    extras: list[Extra] = []
    if maximum is None or maximum > len(required):
        extras = _extras(context, branch, hint, keys)
    chain = ObjectChain(context.rules, context.form, hint, members, extras)
    _count(context, branch, chain, (minimum, maximum))
    return chain.build()


def _count(
    context: Context, branch: Branch, chain: ObjectChain, wanted: tuple[int, int | None]
) -> None:
    """Set how many properties there must be, leaving out what is implied or too much to count."""
    minimum, maximum = wanted
    most = max(minimum, maximum or 0)
    if most * len(chain.members) > _MOST_COUNTED or (chain.extras and most > BLOCK):
        reason = "too many properties to count"
        later(context, branch, {"minProperties": reason, "maxProperties": reason})
        return
    if maximum is not None and not chain.extras and maximum >= len(chain.members):
        maximum = None
    if minimum <= sum(member.required for member in chain.members):
        minimum = 0
    if minimum > 1 and chain.extras:
        later(context, branch, {"minProperties": "a key may come twice"})
    chain.minimum, chain.maximum = minimum, maximum


def _required(context: Context, branch: Branch) -> dict[str, None]:
    required: dict[str, None] = {}
    for leaf in branch:
        names = leaf.schema.get("required")
        if names is None or isinstance(names, bool):
            continue  # a boolean is how draft 3 marked a property; it says nothing here
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            required.update(dict.fromkeys(names))
            context.report.exact(leaf.pointer, "required")
        else:
            context.report.later(leaf.pointer, "required", "it isn't a list of names")
    return required


def _patterns(context: Context, branch: Branch) -> dict[str, _Pattern]:
    found: dict[str, _Pattern] = {}
    for leaf in branch:
        for source in mapping(context, leaf, "patternProperties"):
            try:
                found[source] = _Pattern(source, parse_pattern(source))
                context.report.exact(leaf.pointer, "patternProperties")
            except (PatternNotSupported, RecursionError) as error:
                found[source] = _Pattern(source, None)
                context.report.later(leaf.pointer, "patternProperties", str(error))
    return found


def _places(
    context: Context, branch: Branch, patterns: dict[str, _Pattern], name: str
) -> tuple[Place, ...]:
    """Give all schemas that hold for the property of this name."""
    places: list[Place] = []
    for leaf in branch:
        properties = mapping(context, leaf, "properties")
        known = name in properties
        unsure = False
        if known:
            places.append(leaf.child("properties", name, schema=properties[name]))
        for source, schema in mapping(context, leaf, "patternProperties").items():
            match = _matches(patterns[source].tree, name)
            if match is None:
                unsure = True
            elif match:
                known = True
                places.append(leaf.child("patternProperties", source, schema=schema))
        if not known and not unsure and "additionalProperties" in leaf.schema:
            places.append(_additional(leaf))
    return tuple(places)


def _additional(leaf: Leaf) -> Place:
    return leaf.child("additionalProperties", schema=leaf.schema["additionalProperties"])


def _key_condition(context: Context, branch: Branch) -> tuple[TextCondition | None, Branch]:
    """Read `propertyNames`; None if there is nothing that a grammar can use."""
    places: list[Place] = []
    for leaf in branch:
        if "propertyNames" not in leaf.schema:
            continue
        schema = leaf.schema["propertyNames"]
        if schema is True or (isinstance(schema, dict) and set(schema) <= _KEY_KEYWORDS):
            context.report.exact(leaf.pointer, "propertyNames")
            places.append(leaf.child("propertyNames", schema=schema))
        else:
            context.report.later(leaf.pointer, "propertyNames", "more than a simple pattern")
    if not places:
        return None, ()
    branches = context.document.expand((*places,), Effort.NONE)
    if len(branches) != 1:
        return None, ()
    return text_condition(context, branches[0]), branches[0]


def _matches(tree: Node | None, name: str) -> bool | None:
    """Whether a key matches; None if that can't be said."""
    try:
        return None if tree is None else matches(tree, name)
    except PatternNotSupported:
        return None


def _may_be_key(name: str, condition: TextCondition | None) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False  # a lone surrogate can't be written
    if condition is None:
        return True
    if len(name) < condition.minimum:
        return False
    if condition.maximum is not None and len(name) > condition.maximum:
        return False
    return all(_matches(tree, name) is not False for tree in condition.patterns)


def _extras(context: Context, branch: Branch, hint: str, keys: _Keys) -> list[Extra]:
    """Give the kinds of properties beyond the declared ones, by the patterns their keys match."""
    if context.probing:
        return [Extra(EMPTY, NULL)]
    usable = {source: pattern.tree for source, pattern in keys.patterns.items() if pattern.tree}
    unsure = len(usable) < len(keys.patterns) or len(usable) > _MOST_PATTERNS
    if unsure:
        # Which schema holds for which key can't be said: anything goes, and is checked later.
        reason = "too many or unusable patterns"
        later(context, branch, {"patternProperties": reason, "additionalProperties": reason})
        usable = {}
    condition = keys.condition or TextCondition()
    extras: list[Extra] = []
    for count in range(len(usable) + 1):
        for chosen in combinations(usable, count):
            places = () if unsure else _extra_places(context, branch, frozenset(chosen))
            value = None if places is None else context.value(places, f"{hint}-value")
            if value is None:
                continue
            key_text = TextCondition(
                (*condition.patterns, *(usable[source] for source in chosen)),
                tuple(tree for source, tree in usable.items() if source not in chosen),
                keys.declared,
                condition.minimum,
                condition.maximum,
            )
            key = contents_of(context, f"{hint}-name", key_text, (*branch, *keys.branch))
            if key is not None:
                extras.append(Extra(key, value))
    return extras


def _extra_places(
    context: Context, branch: Branch, matched: frozenset[str]
) -> tuple[Place, ...] | None:
    """Give the schemas of properties whose keys match these patterns; None if they're closed."""
    places: list[Place] = []
    spoken = bool(matched)
    declares = None
    for leaf in branch:
        patterned = mapping(context, leaf, "patternProperties")
        mine = [source for source in patterned if source in matched]
        places += [
            leaf.child("patternProperties", source, schema=patterned[source]) for source in mine
        ]
        if "additionalProperties" in leaf.schema:
            spoken = True
            context.report.exact(leaf.pointer, "additionalProperties")
            if not mine:
                places.append(_additional(leaf))
        elif leaf.schema.get("unevaluatedProperties", True) is not True:
            context.report.later(
                leaf.pointer, "unevaluatedProperties", "taken as if it weren't there"
            )
        if declares is None and not leaf.made and ("properties" in leaf.schema or patterned):
            declares = leaf
    if not spoken and context.options.closed and declares is not None:
        context.report.add(
            declares.pointer,
            "additionalProperties",
            Enforcement.NARROWED,
            "not mentioned, so taken as false",
        )
        return None
    return tuple(places)


def _report_impossible(context: Context, branch: Branch, name: str) -> None:
    for leaf in branch:
        if name in mapping(context, leaf, "properties"):
            pointer = leaf.child("properties", name, schema=None).pointer
            reason = "no value fits, so it's left out"
            context.report.add(pointer, "properties", Enforcement.UNSATISFIABLE, reason)
