"""What the parts of the compiler share while they work on one schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from eris.grammar.document import Document
from eris.grammar.expression import Expression, RuleBook
from eris.grammar.json_text import DEFAULT_FORM, Form
from eris.grammar.negation import primitive
from eris.grammar.place import Branch, Leaf, Place
from eris.grammar.report import ReportBuilder


@dataclass(frozen=True, slots=True)
class Options:
    """How schemas are read.

    Attributes:
        form: The fixed text around values.
        closed: Whether an object that declares `properties` and says nothing about others has
            no others. JSON Schema says it may have any; a tool hardly ever means that.
        formats: Whether `format` is enforced; JSON Schema by itself takes it as a remark.
        rules: Most rules for one schema.
    """

    form: Form = DEFAULT_FORM
    closed: bool = True
    formats: bool = True
    rules: int = 8_000


class Context(Protocol):
    """The compiler as its parts see it."""

    rules: RuleBook
    report: ReportBuilder
    options: Options
    document: Document
    probing: bool
    """Whether all that counts is if any value fits; parts that may be left out don't matter."""
    form: Form
    """How the value that is being built is written."""

    def value(self, places: tuple[Place, ...], hint: str) -> Expression | None:
        """Give the expression of values that fit all these schemas; None if none does.

        Asked while a value is being built, it's about a part of that value, one level deeper.
        """
        ...


def refused_values(branch: Branch) -> list[object]:
    """Give the values that a `not` of a list, or of a constant, refuses."""
    found: list[object] = []
    for leaf in branch:
        keyword, value = primitive(leaf.schema) or ("", None)
        if keyword == "const":
            found.append(value)
        elif keyword == "enum" and isinstance(value, list):
            found += value
    return found


def integer(context: Context, leaf: Leaf, keyword: str) -> int | None:
    """Read a keyword that holds a natural number; anything else is reported and left out."""
    value = leaf.schema.get(keyword)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        context.report.later(leaf.pointer, keyword, f"{value!r} is no natural number")
        return None
    context.report.exact(leaf.pointer, keyword)
    return value


def bounds(context: Context, branch: Branch, low: str, high: str) -> tuple[int, int | None]:
    """Read a pair of keywords that bound a count; the narrowest of all schemas hold."""
    lows = [number for leaf in branch if (number := integer(context, leaf, low)) is not None]
    highs = [number for leaf in branch if (number := integer(context, leaf, high)) is not None]
    return max(lows, default=0), min(highs, default=None)


def later(context: Context, branch: Branch, keywords: Mapping[str, str]) -> None:
    """Report keywords that are left to the check afterwards, each with its reason."""
    for leaf in branch:
        for keyword, reason in keywords.items():
            if keyword in leaf.schema:
                context.report.later(leaf.pointer, keyword, reason)


def mapping(context: Context, leaf: Leaf, keyword: str) -> Mapping[str, object]:
    """Read a keyword that holds schemas by name; anything else is reported and left out."""
    value = leaf.schema.get(keyword)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        context.report.later(leaf.pointer, keyword, "it isn't an object")
        return {}
    return value
