"""The string formats that are regular, as anchored patterns.

Most are compiled to the letter of their definitions. A format with declared bounds leaves out texts
that nobody writes (a leap second at an offset of 17 minutes); one that isn't exact is wider than
its definition, so what it accepts is checked afterwards.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """One format.

    Attributes:
        pattern: An anchored pattern.
        wider: How texts that match may be invalid all the same; empty if none is.
        bounds: Which valid texts are left out, as declared bounds; empty if none is.
    """

    pattern: str
    wider: str = ""
    bounds: str = ""


_LEAP_YEAR = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = (
    r"(?:\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
    rf"|{_LEAP_YEAR}-02-29)"
)
_OFFSET = r"(?:[zZ]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
_FRACTION = r"(?:\.\d+)?"


def _time() -> str:
    """Write the times of RFC 3339; second 60 is only there when it's 23:59 in UTC."""
    usual = rf"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d{_FRACTION}{_OFFSET}"
    hours: list[str] = []
    for hour in range(24):
        behind = rf"\+{(hour + 1) % 24:02}:00|-{23 - hour:02}:00"
        if hour == 23:  # noqa: PLR2004 - the last hour of the day
            behind = f"[zZ]|{behind}"
        half = rf"\+{hour:02}:30|-{23 - hour:02}:30"
        hours.append(f"{hour:02}:(?:59:60{_FRACTION}(?:{behind})|29:60{_FRACTION}(?:{half}))")
    return f"(?:{usual}|{'|'.join(hours)})"


_TIME = _time()
_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = rf"{_BYTE}(?:\.{_BYTE}){{3}}"
_GROUP = r"[0-9a-fA-F]{1,4}"
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_HEX = "[0-9a-fA-F]"


def _ipv6() -> str:
    """Write eight groups, of which `::` stands for at least one and an IPv4 address for two."""
    options = [rf"(?:{_GROUP}:){{6}}(?:{_GROUP}:{_GROUP}|{_IPV4})"]
    for before in range(8):
        head = rf"(?:{_GROUP}(?::{_GROUP}){{0,{before - 1}}})" if before > 1 else _GROUP * before
        after = 7 - before
        tails = [rf"(?:{_GROUP}:){{0,{after - 1}}}{_GROUP}"] if after >= 1 else []
        if after >= 2:  # noqa: PLR2004 - the groups that an IPv4 address stands for
            tails.append(rf"(?:{_GROUP}:){{0,{after - 2}}}{_IPV4}")
        tail = f"(?:{'|'.join(tails)})?" if tails else ""
        options.append(f"{head}::{tail}")
    return f"(?:{'|'.join(options)})"


_IPV6 = _ipv6()


def _uri(*, relative: bool) -> str:
    """Write RFC 3986, with or without references that begin without a scheme."""
    escaped = f"%{_HEX}{_HEX}"
    plain = r"A-Za-z0-9._~!$&'()*+,;="
    part = f"(?:[{plain}:@-]|{escaped})"
    first = f"(?:[{plain}@-]|{escaped})"
    address = rf"\[(?:{_IPV6}|[vV]{_HEX}+\.[{plain}:-]+)\]"
    user, name = f"(?:[{plain}:-]|{escaped})*@", f"(?:[{plain}-]|{escaped})*"
    authority = rf"//(?:{user})?(?:{address}|{name})(?::\d*)?(?:/{part}*)*"
    rooted = f"/(?:{part}+(?:/{part}*)*)?"
    path = f"(?:{authority}|{rooted}|{part}+(?:/{part}*)*)?"
    ending = rf"(?:\?(?:{part}|[/?])*)?(?:#(?:{part}|[/?])*)?"
    whole = f"[a-zA-Z][a-zA-Z0-9+.-]*:{path}{ending}"
    if relative:
        whole = f"(?:{whole}|(?:{authority}|{rooted}|{first}+(?:/{part}*)*)?{ending})"
    return f"^{whole}$"


def _email() -> str:
    """Write the mailboxes of RFC 5321."""
    letter = r"[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]"
    dotted = rf"{letter}(?:\.?{letter}){{0,63}}"
    in_quotes = r'"(?:[ !#-\[\]-~]|\\[ -~]){0,62}"'
    domain = rf"{_LABEL}(?:\.{_LABEL}){{0,13}}"
    literal = rf"\[(?:{_IPV4}|[iI][pP][vV]6:{_IPV6})\]"
    return f"^(?:{dotted}|{in_quotes})@(?:{domain}|{literal})$"


def _duration() -> str:
    """Write the durations of RFC 3339, appendix A."""
    minutes = r"\d+M(?:\d+S)?"
    time = rf"T(?:\d+H(?:{minutes})?|{minutes}|\d+S)"
    months = r"\d+M(?:\d+D)?"
    return rf"^P(?:(?:\d+Y(?:{months})?|{months}|\d+D)(?:{time})?|{time}|\d+W)$"


_POINTER = "(?:/(?:[^~/]|~[01])*)*"
_LEAP_SECOND = "a leap second only at an offset of whole or half hours"
_UNCOMPILED = "isn't compiled"

FORMATS = {
    "date": Format(f"^{_DATE}$"),
    "time": Format(f"^{_TIME}$", bounds=_LEAP_SECOND),
    "date-time": Format(f"^{_DATE}[tT]{_TIME}$", bounds=_LEAP_SECOND),
    "duration": Format(_duration()),
    "uuid": Format(f"^{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}$"),
    "ipv4": Format(f"^{_IPV4}$"),
    "ipv6": Format(f"^{_IPV6}$"),
    "hostname": Format(
        rf"^{_LABEL}(?:\.{_LABEL})*$", wider="its whole length and international labels"
    ),
    "email": Format(_email(), bounds="at most 64 letters before the @, 14 labels of 63 behind it"),
    "uri": Format(_uri(relative=False)),
    "uri-reference": Format(_uri(relative=True)),
    "json-pointer": Format(f"^{_POINTER}$"),
    "relative-json-pointer": Format(rf"^(?:0|[1-9]\d*)(?:#|{_POINTER})$"),
    "idn-email": Format(r"^[^@]+@[^@]+$", wider=_UNCOMPILED),
    "idn-hostname": Format("^.+$", wider=_UNCOMPILED),
    "iri": Format("^[a-zA-Z][a-zA-Z0-9+.-]*:", wider=_UNCOMPILED),
    "iri-reference": Format("", wider=_UNCOMPILED),
    "uri-template": Format("", wider=_UNCOMPILED),
    "regex": Format("", wider=_UNCOMPILED),
}
"""By name. JSON Schema knows no others, so any other name asserts nothing."""
