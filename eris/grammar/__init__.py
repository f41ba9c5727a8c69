"""JSON Schema to grammars (GBNF) that a sampler enforces: pure functions without I/O.

`compile_schema` turns one schema into a grammar of its values; `envelope_grammar` makes the
grammar of a whole answer that may call a set of tools; `SubsetCache` keeps the latter by set.
Everything comes back as `Compiled`: text, expressions, and a report of what is enforced exactly
and what has to be checked afterwards. A schema that can't be compiled raises `SchemaNotUsable`,
which names the place; nothing ever falls through to an unconstrained grammar.
"""

from eris.grammar.compiler import Compiled, compile_schema
from eris.grammar.context import Options
from eris.grammar.envelope import (
    STATUSES,
    EnvelopeLimits,
    SubsetCache,
    ToolSchema,
    arguments_grammar,
    envelope_grammar,
    with_thought,
)
from eris.grammar.errors import (
    GrammarError,
    InvalidGrammar,
    MalformedSchema,
    SchemaNotUsable,
    SchemaTooLarge,
    UnsatisfiableSchema,
)
from eris.grammar.expression import (
    CharClass,
    Choice,
    Expression,
    Grammar,
    Literal,
    Reference,
    Repeat,
    Sequence,
)
from eris.grammar.json_text import COMPACT, DEFAULT_FORM, FORMS, INDENTED, SPACED, Form, dump
from eris.grammar.printer import print_grammar
from eris.grammar.report import Enforcement, Finding, Report
from eris.grammar.validation import Limits, check, prune

__all__ = [
    "COMPACT",
    "DEFAULT_FORM",
    "FORMS",
    "INDENTED",
    "SPACED",
    "STATUSES",
    "CharClass",
    "Choice",
    "Compiled",
    "Enforcement",
    "EnvelopeLimits",
    "Expression",
    "Finding",
    "Form",
    "Grammar",
    "GrammarError",
    "InvalidGrammar",
    "Limits",
    "Literal",
    "MalformedSchema",
    "Options",
    "Reference",
    "Repeat",
    "Report",
    "SchemaNotUsable",
    "SchemaTooLarge",
    "Sequence",
    "SubsetCache",
    "ToolSchema",
    "UnsatisfiableSchema",
    "arguments_grammar",
    "check",
    "compile_schema",
    "dump",
    "envelope_grammar",
    "print_grammar",
    "prune",
    "with_thought",
]
