"""Strings and numbers: every valid spelling and nothing else."""

import json
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.grammar import UnsatisfiableSchema, compile_schema
from tests.grammar_acceptor import acceptor

STRING = acceptor(compile_schema({"type": "string"}).text)
NUMBER = acceptor(compile_schema({"type": "number"}).text)
ANY = acceptor(compile_schema(schema=True).text)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
def test_every_text_can_be_written(text, ascii_only):
    assert STRING(json.dumps(text, ensure_ascii=ascii_only))


@pytest.mark.parametrize(
    "text",
    ['"a\nb"', '"\t"', '"\\x41"', '"\\u12"', '"a', '"a"b"', '"\\ud800"', '"\\udc00"', "'a'",
     '"\\ud83d\\ud83d"', '"\\ud83dx"'],
)  # fmt: skip
def test_what_is_no_json_string_is_refused(text):
    assert not STRING(text)


@given(st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_can_be_written(number):
    if abs(number) < 1e308:
        assert NUMBER(json.dumps(number))


@pytest.mark.parametrize("text", ["01", "+1", "1.", ".5", "0x1", "NaN", "Infinity", "1e999", "-"])
def test_what_is_no_finite_number_is_refused(text):
    assert not NUMBER(text)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-99, 99) | texts,
        lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
        max_leaves=8,
    )
)
def test_any_value_can_be_written_where_anything_goes(value):
    assert ANY(json.dumps(value, ensure_ascii=False))


bounds = st.none() | st.integers(-300, 300) | st.integers(-3, 3)


@given(
    low=bounds,
    high=bounds,
    probes=st.lists(st.integers(-400, 400), min_size=5),
    exclusive=st.booleans(),
)
def test_integer_ranges_are_exact(low, high, probes, exclusive):
    schema = {"type": "integer"}
    if low is not None:
        schema["exclusiveMinimum" if exclusive else "minimum"] = low
        probes += [low - 1, low, low + 1]
    if high is not None:
        schema["exclusiveMaximum" if exclusive else "maximum"] = high
        probes += [high - 1, high, high + 1]

    def fits(number):
        above = low is None or number > low or (number == low and not exclusive)
        below = high is None or number < high or (number == high and not exclusive)
        return above and below

    try:
        accepts = acceptor(compile_schema(schema).text)
    except UnsatisfiableSchema:
        assert not any(map(fits, range(-400, 400)))
        return
    for number in probes:
        assert accepts(str(number)) == fits(number)


decimals = st.decimals(-30, 30, places=2).map(str)


@given(
    low=st.none() | decimals,
    high=st.none() | decimals,
    probes=st.lists(decimals, min_size=5),
    exclusive=st.booleans(),
)
def test_number_ranges_are_exact(low, high, probes, exclusive):
    schema = {"type": "number"}
    if low is not None:
        schema["exclusiveMinimum" if exclusive else "minimum"] = float(low)
        probes += [low, str(Fraction(low).__floor__())]
    if high is not None:
        schema["exclusiveMaximum" if exclusive else "maximum"] = float(high)
        probes += [high, str(Fraction(high).__ceil__())]

    def fits(text):
        number = Fraction(text)
        above = low is None or number > Fraction(low) or (number == Fraction(low) and not exclusive)
        below = (
            high is None or number < Fraction(high) or (number == Fraction(high) and not exclusive)
        )
        return above and below

    try:
        accepts = acceptor(compile_schema(schema).text)
    except UnsatisfiableSchema:
        assert not any(map(fits, probes))
        return
    for text in probes:
        if not (text.startswith("-") and Fraction(text) == 0):
            assert accepts(text) == fits(text), text


PATTERNS = [
    r"^[a-z]{2,3}-\d+$", r"\S", r'^[^"\\]+$', "^.+$", "^a$|^b$", "(^a|b$)", "ab|cd", "^(ab)*$",
    "^(a*)*$", "^(a|b)*abb$", r"^\w+(\.\w+)*@x$", "foo", "^(?:a{2}){3}$", r"[\s\n]", "^$", "^é+$",
    r"^[\]\-^]+$", "^a.c$", r"^\x61\u0062$", "a|", r"^\/\.$", "^[a-]$", "^[^]$", "x{2,}",
    "^(?=.*b)a", "^(?!.*b)a", "^a(?!b)", "^(?=a.)(?!.*c$)[a-c]+$", "^((ab|a)($|-))*", "(^|x)a",
    "^(?=[ab]{2}$)", "^ab?c?x*$", "^(?!a|x)",
]  # fmt: skip
SAMPLES = [
    "", "a", "b", "ab", "abc", "cd", "foo", "xfoox", "aaaaaa", "abb", "aabb", "a-1", "abc-99",
    "ab-1", "a.b@x", "ab@x", "é", "éé", '"', "\\", " ", "\n", "a\nc", "]-^", "a/c", "/.", "-", "xx",
    "\u2028", "abab", "\x00",
]  # fmt: skip


@pytest.mark.parametrize("length", [(0, None), (2, 4), (3, None), (0, 3)])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_mean_what_they_mean_elsewhere(pattern, length):
    low, high = length
    schema = {"type": "string", "pattern": pattern, "minLength": low}
    if high is not None:
        schema["maxLength"] = high
    # Where Python reads a pattern otherwise than ECMA 262: `.`, spaces, the empty negated class.
    python = {
        "^[^]$": r"\A[\s\S]\Z",
        "^.+$": r"\A[^\n\r\u2028\u2029]+\Z",
        "^a.c$": r"\Aa[^\n\r\u2028\u2029]c\Z",
        r"\S": r"[^\s\u2028]",
        r"[\s\n]": r"[\s\u2028]",
    }
    regex = re.compile(python.get(pattern, pattern.replace("$", r"\Z")), re.ASCII)
    wanted = {
        text
        for text in SAMPLES
        if regex.search(text) and low <= len(text) and (high is None or len(text) <= high)
    }
    try:
        compiled = compile_schema(schema)
    except UnsatisfiableSchema:
        assert not wanted
        return
    assert compiled.report.exact
    accepts = acceptor(compiled.text)
    assert {t for t in SAMPLES if accepts(json.dumps(t, ensure_ascii=False))} == wanted


@pytest.mark.parametrize(
    ("bounds", "lengths"),
    [
        ((0, 4000), {0: True, 999: True, 1000: True, 1001: True, 4000: True, 4001: False}),
        ((2500, 5500), {2499: False, 2500: True, 3000: True, 5500: True, 5501: False}),
        ((1200, 1300), {1199: False, 1200: True, 1300: True, 1301: False}),
        ((0, 1001), {0: True, 1000: True, 1001: True, 1002: False}),
    ],
)
def test_long_bounds_count_characters_exactly(bounds, lengths):
    low, high = bounds
    schema = {"type": "string", "minLength": low, "maxLength": high}
    accepts = acceptor(compile_schema(schema).text)
    assert {n: accepts(json.dumps("é" * n)) for n in lengths} == lengths
    assert {n: accepts(f'"{"😀" * n}"') for n in lengths} == lengths


@pytest.mark.parametrize(
    ("name", "accepted", "refused"),
    [
        ("date", ["2024-02-29", "2000-02-29", "1999-12-31"],
         ["2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-2-1"]),
        ("time", ["10:00:00Z", "23:59:60Z", "23:59:60.5+00:00", "01:29:60+01:30", "15:59:60-08:00"],
         ["24:00:00Z", "10:00Z", "10:00:00", "10:00:60Z", "23:59:60+01:00", "10:00:00.Z"]),
        ("date-time", ["2024-02-28T10:00:00.123456Z", "1990-12-31T15:59:60-08:00"],
         ["2024-02-28 10:00:00Z", "2024-02-28", "2023-02-29T10:00:00Z", "2024-02-28T10:00:60Z"]),
        ("duration", ["P4DT12H30M5S", "P1Y2M", "PT0S", "P2W"],
         ["P", "PT", "P1", "P2D1Y", "P1YT1D"]),
        ("uuid", ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], ["2eb8aa08aa9811eab4aa73b441d16380"]),
        ("ipv4", ["127.0.0.1", "255.255.255.255"], ["256.0.0.1", "1.2.3", "01.2.3.4"]),
        ("ipv6", ["::", "::1", "1::", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1:2:3:4:5:6:7::",
                  "1::3:4:5:6:7:8", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "1::1.2.3.4"],
         ["1:2:3:4:5:6:7", "1::2::3", ":::", "12345::", "1::2:3:4:5:6:7:8", "1:2:3:4:5::1.2.3.4:8",
          "1:2:3:4:5:6:7:1.2.3.4", "::2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::"]),
        ("email", ["a@b.c", "joe.bloggs@example.com", "te~st@example", "a@[127.0.0.1]",
                   '\\"joe bloggs\\"@example.com', "a@[IPv6:::1]"],
         ["a", "a b@c", ".a@b", "a.@b", "a..b@c", "a@b@c", "a@-b", "a@[1.2.3]"]),
        ("uri", ["https://example.com/a?b=c#d", "mailto:a@b", "ldap://[2001:db8::7]/c=GB?one",
                 "urn:a:b", "a:", "http://u:p@h:80/%41"],
         ["no uri", "//x", "http://a b", "http://[::1", "a:%4", "1a:b", "http://x/\\\\a", "http://é"]),
        ("uri-reference", ["", "/a", "a/b:c", "//x", "#f", "?q", "a:b"], ["a b", "1:b", "\\\\x"]),
        ("json-pointer", ["", "/a~1b/0", "/"], ["a", "/~2", "#/a"]),
        ("relative-json-pointer", ["0", "1/a", "2#"], ["", "/a", "01", "-1"]),
        ("hostname", ["a-b.example"], ["-a", "a..b", "a_b"]),
    ],
)  # fmt: skip
def test_formats(name, accepted, refused):
    accepts = acceptor(compile_schema({"type": "string", "format": name}).text)
    assert [text for text in accepted if not accepts(f'"{text}"')] == []
    assert [text for text in refused if accepts(f'"{text}"')] == []
