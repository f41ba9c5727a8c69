"""What can go wrong while a schema becomes a grammar.

GrammarError
|-- InvalidGrammar          our own output breaks a rule that the engines rely on
|-- SchemaNotUsable         the schema itself is at fault; names the path
    |-- UnsatisfiableSchema  no JSON value can fit it
    |-- SchemaTooLarge       it would need a larger grammar than the limits allow
    |-- MalformedSchema      it isn't a schema (a number, a list, a string)
"""

from eris.errors import InvalidError


class GrammarError(InvalidError):
    """Base of everything raised by `eris.grammar`."""


class InvalidGrammar(GrammarError):  # noqa: N818 - reads as what it is, like the others here
    """A grammar that an engine would refuse or crash on; it must not leave this package."""


class SchemaNotUsable(GrammarError):  # noqa: N818 - as above
    """A schema that can't become a grammar.

    Attributes:
        path: JSON pointer fragment of the place at fault, such as `#/properties/a`.
        reason: One clause, without the path.
    """

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(
            f"the schema at {path} can't become a grammar: {reason}",
            hint="change the schema there, or accept any JSON object and validate it afterwards",
            details={"path": path},
        )


class UnsatisfiableSchema(SchemaNotUsable):
    """No JSON value fits this schema."""


class SchemaTooLarge(SchemaNotUsable):
    """The grammar for this schema would be larger than the limits."""


class MalformedSchema(SchemaNotUsable):
    """Something that is neither an object nor a boolean was given as a schema."""
