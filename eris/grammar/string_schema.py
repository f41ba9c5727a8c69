"""The keywords of strings: length, pattern, format."""

from dataclasses import replace

from eris.grammar.context import Context, bounds, refused_values
from eris.grammar.errors import SchemaTooLarge
from eris.grammar.expression import Expression
from eris.grammar.formats import FORMATS
from eris.grammar.json_text import quoted
from eris.grammar.negation import primitive
from eris.grammar.pattern import ANYTHING, Node, PatternInvalid, PatternNotSupported, parse_pattern
from eris.grammar.place import Branch, Leaf
from eris.grammar.report import Enforcement
from eris.grammar.strings import LONGEST, TextCondition, text_contents

_TEXT_KEYWORDS = (
    "not",
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
)


def string(context: Context, branch: Branch, hint: str) -> Expression | None:
    """Give the expression of strings that fit, with quotation marks; None if there are none."""
    contents = contents_of(context, hint, text_condition(context, branch), branch)
    return None if contents is None else context.rules.define(hint, quoted(contents))


def text_condition(context: Context, branch: Branch) -> TextCondition:
    """Collect what the schemas of a branch ask of a string.

    Raises:
        SchemaTooLarge: A string would have to be longer than any grammar can ask for.
    """
    minimum, maximum = bounds(context, branch, "minLength", "maxLength")
    if minimum > LONGEST:
        raise SchemaTooLarge(_holder(branch, "minLength"), f"minLength is over {LONGEST}")
    if maximum is not None and maximum > LONGEST:
        context.report.later(_holder(branch, "maxLength"), "maxLength", f"over {LONGEST}")
        maximum = None
    patterns: list[Node] = []
    for leaf in branch:
        patterns += _pattern(context, leaf)
        patterns += _format(context, leaf)
    unique = tuple(dict.fromkeys(patterns))
    refused = tuple(dict.fromkeys(tree for leaf in branch for tree in _refused(context, leaf)))
    words = frozenset(value for value in refused_values(branch) if isinstance(value, str))
    return TextCondition(unique, refused, words, minimum, maximum)


def contents_of(
    context: Context, hint: str, condition: TextCondition, branch: Branch
) -> Expression | None:
    """Write a condition, leaving out what makes it too large for a grammar, with a report."""
    attempts = [condition]
    if condition.refused or condition.words:
        attempts.append(replace(condition, refused=(), words=frozenset()))
        condition = attempts[-1]
    if condition.patterns:
        attempts.append(replace(condition, minimum=0, maximum=None))
        attempts.append(
            replace(condition, patterns=condition.patterns[:1], minimum=0, maximum=None)
        )
        attempts.append(replace(condition, patterns=()))
    attempts.append(TextCondition(minimum=condition.minimum, maximum=condition.maximum))
    for attempt in attempts:
        try:
            contents = text_contents(context.rules, hint, attempt)
        except PatternNotSupported as reason:
            _report_lost(context, branch, str(reason))
            continue
        return contents
    return None


def _report_lost(context: Context, branch: Branch, reason: str) -> None:
    for leaf in branch:
        for keyword in _TEXT_KEYWORDS:
            if keyword in leaf.schema:
                context.report.later(leaf.pointer, keyword, reason)


def _pattern(context: Context, leaf: Leaf) -> list[Node]:
    source = leaf.schema.get("pattern")
    if source is None:
        return []
    if not isinstance(source, str):
        context.report.later(leaf.pointer, "pattern", "it isn't a string")
        return []
    return _parsed(context, leaf, "pattern", source)


def _parsed(context: Context, leaf: Leaf, keyword: str, source: str) -> list[Node]:
    """Parse a pattern and report what becomes of its keyword."""
    try:
        tree = parse_pattern(source)
    except PatternInvalid as error:
        context.report.later(leaf.pointer, keyword, f"not a pattern: {error}")
    except PatternNotSupported as error:
        context.report.later(leaf.pointer, keyword, str(error))
    except RecursionError:
        context.report.later(leaf.pointer, keyword, "nested too deeply")
    else:
        context.report.exact(leaf.pointer, keyword)
        return [tree]
    return []


def _refused(context: Context, leaf: Leaf) -> list[Node]:
    """Read a `not` of a pattern or a format."""
    keyword, source = primitive(leaf.schema) or ("", None)
    if keyword == "pattern" and isinstance(source, str):
        return _parsed(context, leaf, "not", source)
    if keyword not in ("pattern", "format"):
        return []
    known = FORMATS.get(source) if isinstance(source, str) and context.options.formats else None
    if keyword == "format" and known is None:
        return [ANYTHING]  # it asserts nothing, so nothing fits its opposite
    if known is None or known.wider:
        context.report.later(leaf.pointer, "not", "its opposite can't be compiled")
        return []
    if known.bounds:
        context.report.later(leaf.pointer, "not", f"wider by {known.bounds}")
    else:
        context.report.exact(leaf.pointer, "not")
    return [parse_pattern(known.pattern)]


def _format(context: Context, leaf: Leaf) -> list[Node]:
    name = leaf.schema.get("format")
    if name is None or not context.options.formats:
        return []
    known = FORMATS.get(name) if isinstance(name, str) else None
    if known is None:
        reason = f"{name!r} is no format of JSON Schema, so it asserts nothing"
        context.report.add(leaf.pointer, "format", Enforcement.IGNORED, reason)
        return []
    if known.wider:
        context.report.later(
            leaf.pointer, "format", f"{name} is wider than it should be: {known.wider}"
        )
    elif known.bounds:
        context.report.add(leaf.pointer, "format", Enforcement.NARROWED, known.bounds)
    else:
        context.report.exact(leaf.pointer, "format")
    return [parse_pattern(known.pattern)] if known.pattern else []


def _holder(branch: Branch, keyword: str) -> str:
    return next((leaf.pointer for leaf in branch if keyword in leaf.schema), "#")
