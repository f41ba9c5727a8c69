"""The string formats that are regular, as anchored patterns.

A format that isn't exact is wider than its definition (a leap second at any time, an e-mail
address with any characters), so what it accepts is checked afterwards.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """One format.

    Attributes:
        pattern: An anchored pattern that every valid text matches.
        exact: Whether every text that matches is valid.
    """

    pattern: str
    exact: bool


_LEAP_YEAR = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = (
    r"(?:\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
    rf"|{_LEAP_YEAR}-02-29)"
)
_OFFSET = r"(?:[zZ]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
_TIME = rf"(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?{_OFFSET}"
_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_GROUP = r"[0-9a-fA-F]{1,4}"
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_HEX = "[0-9a-fA-F]"


def _ipv6() -> str:
    tail = rf"(?:{_GROUP}:{_GROUP}|{_BYTE}(?:\.{_BYTE}){{3}})"
    options = [rf"(?:{_GROUP}:){{6}}{tail}"]
    for before in range(8):
        head = rf"(?:{_GROUP}(?::{_GROUP}){{0,{before - 1}}})?" if before else ""
        # `::` stands for at least one group, so what follows has at most 7 - before of them.
        after = 7 - before
        if after >= 2:  # noqa: PLR2004 - an IPv4 address takes the place of two groups
            options.append(rf"{head}::(?:{_GROUP}:){{0,{after - 2}}}{tail}")
        options.append(rf"{head}::{_GROUP}" if after >= 1 else rf"{head}::")
        options.append(rf"{head}::")
    return f"(?:{'|'.join(dict.fromkeys(options))})"


FORMATS = {
    "date": Format(f"^{_DATE}$", exact=True),
    "time": Format(f"^{_TIME}$", exact=False),
    "date-time": Format(f"^{_DATE}[tT]{_TIME}$", exact=False),
    "uuid": Format(f"^{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}$", exact=True),
    "ipv4": Format(rf"^{_BYTE}(?:\.{_BYTE}){{3}}$", exact=True),
    "ipv6": Format(f"^{_ipv6()}$", exact=True),
    "hostname": Format(rf"^{_LABEL}(?:\.{_LABEL})*$", exact=False),
    "email": Format(r"^[^@\s]+@[^@\s]+$", exact=False),
    "uri": Format(r"^[a-zA-Z][a-zA-Z0-9+.-]*:[!#-;=?-\[\]_a-z~A-Z%]*$", exact=False),
}
