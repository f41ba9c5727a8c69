"""What a compiled grammar enforces of its schema, and what it leaves to a check afterwards."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum


class Enforcement(StrEnum):
    """How much of a keyword the grammar enforces."""

    EXACT = "exact"
    """Texts of the grammar fulfil it, and nothing that fulfils it is shut out."""
    IGNORED = "ignored"
    """It asserts nothing by the specification (a keyword or format that nobody defined)."""
    NARROWED = "narrowed"
    """Declared bounds shut out valid values (an open object without declared properties)."""
    CHECKED_AFTERWARDS = "checked-afterwards"
    """The grammar is wider; validate the value against the schema."""
    UNSATISFIABLE = "unsatisfiable"
    """Nothing fulfils it, so this part of the schema was left out."""


_WEIGHT = {
    Enforcement.EXACT: 0,
    Enforcement.IGNORED: 1,
    Enforcement.NARROWED: 2,
    Enforcement.UNSATISFIABLE: 3,
    Enforcement.CHECKED_AFTERWARDS: 4,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One keyword at one place of a schema.

    Attributes:
        path: JSON pointer fragment of the schema that holds the keyword.
        keyword: The keyword.
        enforcement: What became of it.
        reason: Why it isn't exact, as a clause; empty if it is.
        tool: The tool whose schema this is; empty for a schema on its own.
    """

    path: str
    keyword: str
    enforcement: Enforcement
    reason: str = ""
    tool: str = ""

    def __str__(self) -> str:
        place = f"{self.tool} {self.path}" if self.tool else self.path
        return f"{place} {self.keyword}: {self.enforcement}" + (
            f" ({self.reason})" if self.reason else ""
        )


@dataclass(frozen=True, slots=True)
class Report:
    """All findings of one compilation, in the order of first sight."""

    findings: tuple[Finding, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether every text of the grammar is valid, so that no check is needed afterwards."""
        return not any(
            finding.enforcement is Enforcement.CHECKED_AFTERWARDS for finding in self.findings
        )

    def of(self, enforcement: Enforcement) -> tuple[Finding, ...]:
        """Give the findings of one kind."""
        return tuple(one for one in self.findings if one.enforcement is enforcement)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)


@dataclass(slots=True)
class ReportBuilder:
    """Collects findings; for one keyword at one place the gravest stays."""

    _findings: dict[tuple[str, str], Finding] = field(default_factory=dict)

    def add(self, path: str, keyword: str, enforcement: Enforcement, reason: str = "") -> None:
        """Note what became of a keyword.

        Of a schema that the compiler made (see `Place`), only what is left to the check
        afterwards counts; it's noted where the schema was made.
        """
        written, made, _ = path.partition("/~")
        while made and path[len(written) + 2 : len(written) + 3].isdigit():  # an escaped character
            more, made, _ = path[len(written) + 2 :].partition("/~")
            written += f"/~{more}"
        if made:
            if enforcement is not Enforcement.CHECKED_AFTERWARDS:
                return
            path = written
        known = self._findings.get((path, keyword))
        if known is None or _WEIGHT[known.enforcement] < _WEIGHT[enforcement]:
            self._findings[path, keyword] = Finding(path, keyword, enforcement, reason)

    def exact(self, path: str, keyword: str) -> None:
        """Note a keyword that is enforced exactly."""
        self.add(path, keyword, Enforcement.EXACT)

    def later(self, path: str, keyword: str, reason: str) -> None:
        """Note a keyword that is left to the check afterwards."""
        self.add(path, keyword, Enforcement.CHECKED_AFTERWARDS, reason)

    def report(self) -> Report:
        """Give what was collected."""
        return Report(tuple(self._findings.values()))
