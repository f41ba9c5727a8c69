"""`enum` and `const`: values that are known beforehand."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, cast
from typing import Literal as OneOf

from eris.grammar.context import Context, refused_values
from eris.grammar.dialect import without_dialects
from eris.grammar.effort import spend
from eris.grammar.errors import SchemaTooLarge
from eris.grammar.expression import Choice, Expression, Literal, Reference, choice, sequence
from eris.grammar.json_text import Form, dump
from eris.grammar.nfa import matches
from eris.grammar.pattern import parse_pattern
from eris.grammar.place import Branch, Leaf, plain
from eris.grammar.report import Enforcement

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_TRIVIAL = frozenset({"title", "description", "default", "examples", "$comment", "deprecated"})
_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}
_LONGEST_INTEGER = 10**16


def constants(context: Context, branch: Branch, hint: str) -> Expression | OneOf[False] | None:
    """Give the expression of the listed values that fit everything else in the branch.

    Returns:
        False if the branch lists no values; None if no listed value fits.
    """
    lists = [(leaf, values) for leaf in branch if (values := _listed(context, leaf)) is not None]
    if not lists:
        return False
    fits = _checker(context, branch, lists)
    options: list[Expression | None] = []
    for value in lists[0][1]:
        if not fits(value):
            continue
        try:
            options.append(_constant(context, value, context.form))
        except (ValueError, UnicodeEncodeError):
            leaf = lists[0][0]
            context.report.later(leaf.pointer, "enum", f"{value!r} can't be written as JSON")
    if not options:
        leaf = lists[0][0]
        reason = "no listed value fits the rest"
        context.report.add(leaf.pointer, "enum", Enforcement.UNSATISFIABLE, reason)
    whole = choice(options)
    if whole is None:
        return None
    references = whole.options if isinstance(whole, Choice) else (whole,)
    rules = [option.rule for option in references if isinstance(option, Reference)]
    if len(rules) == len(references) and context.rules.structural.isdisjoint(rules):
        # Scalars alone make one rule without further references.
        scalars = choice(context.rules.rules[rule] for rule in rules)
        return None if scalars is None else context.rules.define(hint, scalars)
    context.rules.mixed = True
    return context.rules.structure(hint, whole)


def remaining(kind: str, branch: Branch) -> Expression | None:
    """Give the booleans, or null, that no schema of a branch refuses by a `not`."""
    refused = refused_values(branch)
    values = (True, False) if kind == "boolean" else (None,)
    left = [value for value in values if not any(value is one for one in refused)]
    return choice(Literal(dump(value)) for value in left)


def _listed(context: Context, leaf: Leaf) -> list[object] | None:
    if "const" in leaf.schema:
        context.report.exact(leaf.pointer, "const")
        return [leaf.schema["const"]]
    values = leaf.schema.get("enum")
    if values is None:
        return None
    if not isinstance(values, list):
        context.report.later(leaf.pointer, "enum", "it isn't a list")
        return None
    context.report.exact(leaf.pointer, "enum")
    return values


class _Checker:
    """Says whether a value fits every schema of a branch."""

    def __init__(self, context: Context, branch: Branch) -> None:
        self._context = context
        whole = _validator(without_dialects(context.document.root.schema))
        self._validators = [
            (
                leaf.pointer,
                whole.evolve(
                    schema=without_dialects(plain(leaf.schema) if leaf.made else leaf.schema)
                ),
            )
            for leaf in branch
        ]

    def __call__(self, value: object) -> bool:
        from jsonschema.exceptions import ValidationError  # noqa: PLC0415 - 100 ms, seldom needed

        for pointer, validator in self._validators:
            spend(100)
            try:
                validator.validate(cast("str", value))
            except ValidationError:
                return False
            except SchemaTooLarge:
                raise
            except Exception as error:  # noqa: BLE001 - a broken sibling fails in any way
                reason = f"the listed values couldn't be checked against it ({error})"
                self._context.report.later(pointer, "enum", reason)
        return True


def _validator(schema: object) -> "Validator":
    """Make a validator whose patterns can't run away, as Python's `re` does on `^(a+)+$`."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - 100 ms, seldom needed
    from jsonschema.validators import extend  # noqa: PLC0415
    from referencing.jsonschema import EMPTY_REGISTRY  # noqa: PLC0415

    checks = Draft202012Validator.VALIDATORS
    own = {
        "pattern": _check_pattern,
        "patternProperties": _refuse_keyword,
        "enum": _counted(checks["enum"]),
        "$ref": _counted(checks["$ref"]),
        "$dynamicRef": _counted(checks["$dynamicRef"]),
    }
    kind = extend(Draft202012Validator, own)  # type: ignore[no-untyped-call]  # as it comes
    # With an empty registry nothing is fetched from the network.
    return cast("Validator", kind(cast("dict[str, object]", schema), registry=EMPTY_REGISTRY))


def _counted(original: Callable[..., Iterable[Exception] | None]) -> object:
    """Count the steps of a keyword that takes long for a long list, or that may multiply."""

    def check(
        validator: object, wanted: object, value: object, schema: object
    ) -> Iterator[Exception]:
        spend(len(wanted) if isinstance(wanted, list) else 50)
        yield from original(validator, wanted, value, schema) or ()

    return check


def _check_pattern(
    _validator: object, source: str, value: object, _schema: object
) -> Iterator[Exception]:
    from jsonschema.exceptions import ValidationError  # noqa: PLC0415 - 100 ms, seldom needed

    if isinstance(value, str) and not matches(parse_pattern(source), value):
        yield ValidationError(f"{value!r} doesn't match {source!r}")


def _refuse_keyword(
    _validator: object, _keyword: object, _value: object, _schema: object
) -> Iterator[Exception]:
    raise NotImplementedError("patternProperties beside listed values")


def _checker(
    context: Context, branch: Branch, lists: list[tuple[Leaf, list[object]]]
) -> "_Checker | _Simple":
    simple = all(
        leaf.schema.keys() - _TRIVIAL <= {"type", "enum", "const"}
        and isinstance(leaf.schema.get("type", ""), str)
        for leaf in branch
    )
    one_list = len(lists) == 1 and not {"enum", "const"} <= lists[0][0].schema.keys()
    return _Simple(branch) if simple and one_list else _Checker(context, branch)


class _Simple:
    """The common case: only `type` stands beside the list."""

    def __init__(self, branch: Branch) -> None:
        self._types = [
            str(leaf.schema["type"]) for leaf in branch if leaf.schema.get("type") in _JSON_TYPES
        ]

    def __call__(self, value: object) -> bool:
        for name in self._types:
            if isinstance(value, bool) and name != "boolean":
                return False
            whole = isinstance(value, float) and value.is_integer() and name == "integer"
            if not whole and not isinstance(value, _JSON_TYPES[name]):
                return False
        return True


def _constant(context: Context, value: object, form: Form) -> Reference:
    """Write one value; objects and arrays in the same pieces as free ones (see `containers`)."""
    if isinstance(value, Mapping) and value:
        parts: list[Expression] = []
        before = f"{{{form.opening}"
        for name, member in value.items():
            key = Literal(f"{before}{dump(name, form)}{form.colon}")
            parts += [key, _constant(context, member, form.inner)]
            before = form.between
        close = Literal(f"{form.closing}}}")
        return context.rules.structure("const", sequence(*parts, close))
    if isinstance(value, list) and value:
        items: list[Expression] = []
        for index, item in enumerate(value):
            before = form.between if index else f"[{form.opening}"
            items += [Literal(before), _constant(context, item, form.inner)]
        close = Literal(f"{form.closing}]")
        return context.rules.structure("const", sequence(*items, close))
    text = dump(value, form)
    if isinstance(value, float) and value.is_integer() and abs(value) < _LONGEST_INTEGER:
        both = choice([Literal(str(int(value))), Literal(text)])
        return context.rules.define("const", Literal(text) if both is None else both)
    if isinstance(value, Mapping | list):
        return context.rules.structure("const", Literal(text))
    return context.rules.define("const", Literal(text))
