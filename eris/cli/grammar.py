"""`eris grammar`: the grammars that tools and schemas become, and what they enforce."""

import difflib
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import click
import msgspec

from eris.cli.failure import EXIT_FAILURE, EXIT_OK
from eris.cli.invocation import Invocation, example, json_option, pass_invocation
from eris.cli.schema_file import read_schemas
from eris.errors import NotFoundError
from eris.grammar import (
    FORMS,
    Compiled,
    Enforcement,
    Finding,
    Report,
    SchemaNotUsable,
    ToolSchema,
    arguments_grammar,
    compile_schema,
    envelope_grammar,
)
from eris.grammar.context import Options
from eris.tool_declarations import declared_tools

_NEAR = 3
_COLOURS = {Enforcement.NARROWED: "cyan", Enforcement.CHECKED_AFTERWARDS: "yellow"}


@example("eris grammar show vault:write", "eris grammar check tools.json")
@click.group()
def grammar() -> None:
    """Show and check the grammars of tools.

    The model writes its answers under a grammar made from the tools' JSON Schemas. What a grammar
    can't enforce is checked afterwards, and said here. No running system is needed.
    """


@example(
    "eris grammar show vault:write",
    "eris grammar show vault:read vault:list --form compact --json",
    "eris grammar show vault:write --schema > write.gbnf",
)
@grammar.command()
@click.argument("tools", metavar="TOOL...", nargs=-1, required=True)
@click.option("--schema", "only", is_flag=True, help="Only the arguments of one tool.")
@click.option("--must-call", is_flag=True, help="The answer calls a tool and says nothing yet.")
@click.option("--form", type=click.Choice([*FORMS]), default="spaced", help="How JSON is written.")
@json_option
@pass_invocation
def show(
    invocation: Invocation,
    tools: tuple[str, ...],
    *,
    only: bool,
    must_call: bool,
    form: str,
    as_json: bool,
) -> None:
    """Print the grammar of an answer that may call these tools.

    Below it, as comments of the grammar: what it enforces and how large it is. The whole output
    can be given to llama.cpp.
    """
    if only and (len(tools) > 1 or must_call):
        raise click.UsageError("--schema takes one tool, and no --must-call.")
    schemas = _declared(invocation, tools)
    started = time.perf_counter()
    if only:
        compiled = arguments_grammar(schemas[0], form=FORMS[form])
    else:
        compiled = envelope_grammar(schemas, form=FORMS[form], must_call=must_call)
    milliseconds = _milliseconds(started)
    if as_json:
        _document({"tools": tools, "grammar": compiled.text, **_facts(compiled, milliseconds)})
        return
    click.echo(compiled.text)
    for line in (*_report_lines(compiled.report), _size_line(compiled, milliseconds)):
        click.echo(f"# {line}", color=invocation.color)


def _declared(invocation: Invocation, names: Sequence[str]) -> list[ToolSchema]:
    known = {tool.name: tool for tool in declared_tools(invocation.environ)}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=_NEAR, cutoff=0.4)
            meant = (
                f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(known)}."
            )
            raise NotFoundError(f"There is no tool {name!r}.", hint=meant)
    return [
        ToolSchema(name, msgspec.json.decode(known[name].parameters))
        for name in dict.fromkeys(names)
    ]


@example(
    "eris grammar check schema.json",
    "eris grammar check tools.json --json",
    'echo \'{"type": "string", "pattern": "^[a-z]+$"}\' | eris grammar check -',
)
@grammar.command()
@click.argument("file", metavar="FILE.json", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--form", type=click.Choice([*FORMS]), default="spaced", help="How JSON is written.")
@json_option
def check(file: str, *, form: str, as_json: bool) -> int:
    """Say what a grammar can enforce of a JSON Schema, or of the tools of a file.

    FILE.json holds a schema, one tool (name and parameters), or a list of tools as OpenAI and MCP
    write them; - reads it from the standard input. Exits 0 if it can be used, with all that is
    only checked afterwards listed; 1 if a schema can't become a grammar; 2 if it can't be read.
    """
    found = read_schemas(_text(file), "the input" if file == "-" else file)
    if found.tools:
        checks = [
            _checked(tool.name, partial(arguments_grammar, tool, form=FORMS[form]))
            for tool in found.tools
        ]
    else:
        options = Options(form=FORMS[form])
        checks = [_checked("", partial(compile_schema, found.schema, options))]
    if as_json:
        _document([one.document() for one in checks] if found.tools else checks[0].document())
    else:
        for one in checks:
            one.print(coloured=bool(click.get_current_context().color))
    return EXIT_FAILURE if any(one.problem for one in checks) else EXIT_OK


def _text(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{file} can't be read: {error}.") from error


@dataclass(frozen=True)
class _Check:
    """What came of one schema."""

    name: str
    compiled: Compiled | None
    milliseconds: float
    problem: SchemaNotUsable | None = None

    def document(self) -> dict[str, object]:
        """Return it for programs."""
        name: dict[str, object] = {"name": self.name} if self.name else {}
        if self.compiled is None or self.problem is not None:
            error = self.problem
            reason = {"path": error.path, "reason": error.reason} if error is not None else {}
            return {**name, "usable": False, **reason}
        return {**name, "usable": True, **_facts(self.compiled, self.milliseconds)}

    def print(self, *, coloured: bool) -> None:
        """Print it for people."""
        if self.name:
            click.echo(click.style(self.name, bold=True), color=coloured)
        if self.compiled is None or self.problem is not None:
            said = click.style("can't be used", fg="red")
            hint = f"\n      {self.problem.hint}" if self.problem else ""
            click.echo(f"{said}: {self.problem}{hint}", color=coloured)
            return
        for line in _report_lines(self.compiled.report):
            click.echo(line, color=coloured)
        click.echo(_size_line(self.compiled, self.milliseconds))


def _checked(name: str, make: Callable[[], Compiled]) -> _Check:
    started = time.perf_counter()
    try:
        compiled = make()
    except SchemaNotUsable as error:
        return _Check(name, None, _milliseconds(started), error)
    return _Check(name, compiled, _milliseconds(started))


def _milliseconds(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)


def _facts(compiled: Compiled, milliseconds: float) -> dict[str, object]:
    return {
        "exact": compiled.report.exact,
        "findings": [asdict(finding) for finding in compiled.report],
        "bytes": len(compiled.text.encode()),
        "rules": len(compiled.grammar.rules),
        "compile_ms": milliseconds,
    }


def _report_lines(report: Report) -> list[str]:
    """Say what is enforced, the remarkable things line by line."""
    kept = sum(finding.enforcement is Enforcement.EXACT for finding in report)
    remarkable = [one for one in report if one.enforcement is not Enforcement.EXACT]
    verdict = (
        click.style("exact", fg="green") + ": whatever the grammar allows is valid"
        if report.exact
        else click.style("wider", fg="yellow") + ": what is marked below is checked afterwards"
    )
    enforced = f"{kept} {'keyword' if kept == 1 else 'keywords'} enforced"
    return [f"{verdict}; {enforced}", *map(_finding_line, remarkable)]


def _finding_line(finding: Finding) -> str:
    place = f"{finding.tool} {finding.path}" if finding.tool else finding.path
    what = click.style(finding.enforcement, fg=_COLOURS.get(finding.enforcement))
    reason = f" ({finding.reason})" if finding.reason else ""
    return f"  {place} {finding.keyword}: {what}{reason}"


def _size_line(compiled: Compiled, milliseconds: float) -> str:
    size = len(compiled.text.encode())
    return f"{size} bytes, {len(compiled.grammar.rules)} rules, compiled in {milliseconds} ms"


def _document(value: object) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())
