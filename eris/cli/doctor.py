"""`eris doctor`: looks for problems and says how to fix each."""

import click
import msgspec

from eris.cli.doctor_checks import CHECKS, Complaint, Finding, Severity, Subject
from eris.cli.failure import EXIT_CANNOT_RUN, EXIT_FAILURE, EXIT_OK
from eris.cli.invocation import Invocation, example, json_option, pass_invocation, vault_option
from eris.errors import ConfigurationError

_MARKS = {Severity.ERROR: "✗", Severity.WARNING: "!", Severity.INFO: "·"}


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    """What ``--json`` prints."""

    ok: bool
    findings: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
    checks: tuple[str, ...]
    """Ids of the checks that ran."""
    broken: tuple[str, ...]
    """Ids of the checks that couldn't be carried out."""


@example("eris doctor --vault ~/notes", "eris doctor --only models --only llama --json")
@click.command()
@click.option(
    "--only",
    multiple=True,
    metavar="ID",
    type=click.Choice(list(CHECKS)),
    help=f"Run this check only (may be repeated): {', '.join(CHECKS)}.",
)
@click.option("--fix", is_flag=True, help="Repair what can be repaired without harm.")
@json_option
@vault_option
@pass_invocation
def doctor(invocation: Invocation, *, only: tuple[str, ...], fix: bool, as_json: bool) -> int:
    """Look for problems and say how to fix each; changes nothing without --fix.

    Exits 0 if there is none, 1 if there are some, 2 if a check couldn't be carried out.
    """
    try:
        vault = invocation.vault()
    except ConfigurationError:
        vault = None
    subject = Subject(invocation.environ, invocation.overrides, vault)
    examination = examine(subject, only or tuple(CHECKS), fix=fix)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(examination), indent=2).decode())
    else:
        _show(examination)
    if examination.broken:
        return EXIT_CANNOT_RUN
    return EXIT_OK if examination.ok else EXIT_FAILURE


def examine(subject: Subject, checks: tuple[str, ...], *, fix: bool = False) -> Examination:
    """Run checks; one that breaks is reported and doesn't keep the others from running."""
    findings: list[Finding] = []
    fixed: list[Finding] = []
    broken: list[str] = []
    for name in checks:
        try:
            for complaint in CHECKS[name](subject):
                finding = _finding(name, complaint)
                if fix and complaint.repair is not None:
                    complaint.repair()
                    fixed.append(finding)
                else:
                    findings.append(finding)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other checks go on
            broken.append(name)
            words = f"The check {name!r} couldn't be carried out: {type(error).__name__}: {error}"
            hint = "Check the permissions of the folders of Eris."
            findings.append(_finding(name, Complaint(Severity.ERROR, words, hint)))
    problems = [finding for finding in findings if finding.severity is not Severity.INFO]
    return Examination(
        ok=not problems,
        findings=tuple(findings),
        fixed=tuple(fixed),
        checks=tuple(checks),
        broken=tuple(broken),
    )


def _finding(name: str, complaint: Complaint) -> Finding:
    return Finding(
        check_id=name,
        severity=complaint.severity,
        message=complaint.message,
        path=complaint.path,
        fix_hint=complaint.hint,
    )


def _show(examination: Examination) -> None:
    for finding in examination.fixed:
        click.echo(f"✓ {finding.check_id}: fixed: {finding.message}")
    for finding in examination.findings:
        click.echo(f"{_MARKS[finding.severity]} {finding.check_id}: {finding.message}")
        click.echo(f"    {finding.fix_hint}")
    clean = len(set(examination.checks) - {finding.check_id for finding in examination.findings})
    click.echo(f"{clean} of {len(examination.checks)} checks found nothing.")
