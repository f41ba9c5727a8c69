"""Properties set and removed, with every other byte of the note as it was."""

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.errors import InvalidError, NotFoundError
from eris.vault.frontmatter import read, with_property, without_property

CORPUS = sorted((Path(__file__).parents[1] / "data" / "vault").glob("*.md"))

# Properties as people write them: each chunk's lines are its name, its value and what is its own.
CHUNKS = {
    "title": "title: Plain words\n",
    "quoted": "quoted: 'it''s: so'\n",
    "double": 'double:   "a \\" # b"   \n',
    "number": "number: 007\n",
    "flow": "flow: [a, 'b, c', {d: e}]\n",
    "split": "split: [\n  a, # one\n  b\n]\n",
    "block": "block: |\n  # no comment\n\n  more: lines\n",
    "folded": "folded: >-\n  a\n  b\n",
    "list": "list:\n- a\n-   b\n",
    "indented": "indented:\n    - 'a'\n\n    - b: c\n      d: e\n",
    "mapping": "mapping:\n  a:\n    b: c\n",
    "empty": "empty:\n",
    "colon": "colon: Part one: the start\n",
    "two words": "two words: x\n",
    "é": "é: ü\n",
    "date": "date: 2027-01-03\n",
    "unquoted": "unquoted: [[Note]]\n",
    "anchor": "anchor: &a b\n",
    "plain": "plain: a\n  and b\n",
    '"in quotes"': '"in quotes": 1\n',
}
BETWEEN = st.sampled_from(["", "", "# a comment: yes\n", "\n", "\n# two: - a\n\n"])
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.dates(),
        st.datetimes().map(lambda moment: moment.replace(microsecond=0, fold=0)),
        st.text(),
        st.sampled_from(
            [
                "yes",
                "null",
                "~",
                "1e3",
                "0x1",
                "- a",
                "a: b",
                "# a",
                "[[A|b]]",
                "a #b",
                "'",
                '"',
                " a ",
                "2027-01-03",
                "12:30",
                "|",
                "*a",
                "&a",
                "!a",
                "%a",
                "@a",
                "a:",
                "=",
                "<<",
            ]
        ),
    ),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=6,
)
BODIES = st.sampled_from(["", "Body", "\n# H\n\ntext  \n---\nmore: x\n---\n"])
LINE_ENDS = st.sampled_from(["\n", "\r\n"])


@st.composite
def notes(draw):
    """Draw the parts of a note's YAML, and what is around it."""
    names = draw(st.lists(st.sampled_from(sorted(CHUNKS)), unique=True, max_size=6))
    line_end = draw(LINE_ENDS)
    parts = [
        (name.strip('"'), draw(BETWEEN), CHUNKS[name].replace("\n", line_end)) for name in names
    ]
    parts = [(name, between.replace("\n", line_end), chunk) for name, between, chunk in parts]
    start = draw(st.sampled_from(["", "\ufeff"])) + "---" + line_end
    end = "---" + draw(st.sampled_from(["", " "])) + line_end
    return start, parts, end + draw(BODIES).replace("\n", line_end)


def joined(parts):
    return "".join(between + chunk for _, between, chunk in parts)


@given(notes(), VALUES, st.data())
def test_setting_a_property_changes_nothing_else(note, value, data):
    start, parts, end = note
    text = start + joined(parts) + end
    before = dict(read(text).properties)
    name = data.draw(st.sampled_from([*before, "added"]))
    changed = with_property(text, name, value)
    at = [part[0] for part in parts].index(name) if name in before else len(parts)
    prefix = start + joined(parts[:at]) + "".join(part[1] for part in parts[at : at + 1])
    suffix = joined(parts[at + 1 :]) + end
    assert changed.startswith(prefix)
    assert changed.endswith(suffix)
    assert len(changed) >= len(prefix) + len(suffix)
    after = dict(read(changed).properties)
    assert repr({**before, name: value}) == repr(after)  # NaN equals itself, True isn't 1


@given(notes(), st.data())
def test_removing_a_property_takes_its_own_lines_and_nothing_else(note, data):
    start, parts, end = note
    text = start + joined(parts) + end
    before = dict(read(text).properties)
    if not before:
        with pytest.raises(NotFoundError):
            without_property(text, "title")
        return
    name = data.draw(st.sampled_from(list(before)))
    at = [part[0] for part in parts].index(name)
    changed = without_property(text, name)
    prefix = start + joined(parts[:at]) + parts[at][1]
    assert changed == prefix + joined(parts[at + 1 :]) + end
    del before[name]
    assert repr(before) == repr(dict(read(changed).properties))


@given(notes(), VALUES)
def test_a_property_set_and_removed_leaves_the_note_as_it_was(note, value):
    start, parts, end = note
    text = start + joined(parts) + end
    assert without_property(with_property(text, "added", value), "added") == text


@pytest.mark.parametrize(
    ("before", "name", "value", "after"),
    [
        ("Body", "a", "b", "---\na: b\n---\nBody"),
        ("", "a", "b", "---\na: b\n---\n"),
        ("\ufeffBody\r\n", "a", "b", "\ufeff---\r\na: b\r\n---\r\nBody\r\n"),
        ("---\n---\nBody", "a", 1, "---\na: 1\n---\nBody"),
        ("---\na: b\n---", "a", "c", "---\na: c\n---"),
        ("---\na: b # why\n---\n", "a", "c", "---\na: c # why\n---\n"),
        ("---\na: b # why\n---\n", "a", ["c", "d"], "---\na: [c, d] # why\n---\n"),
        ("---\na: [b]\n---\n", "a", ["c", "d"], "---\na: [c, d]\n---\n"),
        ("---\na: b\n---\n", "a", ["c", "d"], "---\na:\n  - c\n  - d\n---\n"),
        ("---\nStatus: b\n---\n", "status", "c", "---\nStatus: c\n---\n"),
        ("---\na: 1\nA: 2\n---\n", "A", 3, "---\na: 1\nA: 3\n---\n"),
        ("---\na: b\n---\n", "a", "[[Note|shown]]", '---\na: "[[Note|shown]]"\n---\n'),
        ("---\na: b\n---\n", "a", "Part one: two", '---\na: "Part one: two"\n---\n'),  # V03
        ("---\na: b\n---\n", "a", dt.date(2027, 1, 3), "---\na: 2027-01-03\n---\n"),
        ("---\na: b\n---\n", "a", dt.datetime(2027, 1, 3, 4, 5),  # noqa: DTZ001 - no zone there
         "---\na: 2027-01-03T04:05:00\n---\n"),
        ("---\na: b\n---\n", "a", True, "---\na: true\n---\n"),
        ("---\na: b\n---\n", "a", "true", '---\na: "true"\n---\n'),
        ("---\na: b\n---\n", "a", None, "---\na:\n---\n"),
        ("---\na:\n---\n", "a", "b", "---\na: b\n---\n"),
        ("---\na: # why\n---\n", "a", "b", "---\na: b # why\n---\n"),
        ("---\na: Part: one\nb: c\n---\n", "b", "d", "---\na: Part: one\nb: d\n---\n"),
        ("---\na: Part: one\nb: c\n---\n", "a", "d", "---\na: d\nb: c\n---\n"),
        ("---\n# only a comment\n---\n", "a", "b", "---\n# only a comment\na: b\n---\n"),
    ],
)  # fmt: skip
def test_setting(before, name, value, after):
    assert with_property(before, name, value) == after


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("---\naliases:\na\n---\nbody", 3, 1),  # V02
        ("---\na: b\nc: [d\n---\n", 3, 4),
        ("---\na: 'b\n---\n", 2, 4),
        ("---\na: b\na: c\n---\n", 3, 1),
        ("---\r\na: {b\r\n---\r\n", 2, 4),
        ("\ufeff---\n\tb: c\n---\n", 2, 1),
        ("---\njust text\n---\n", 2, 1),
        ("---\na: *nowhere\n---\n", 2, 4),
    ],
)
def test_broken_yaml_is_refused_with_line_and_column(text, line, column):
    with pytest.raises(InvalidError) as caught:
        with_property(text, "status", "done")
    assert f"line {line}, column {column}" in str(caught.value)
    assert caught.value.details == {"line": line, "column": column}
    with pytest.raises(InvalidError):
        without_property(text, "a")


@pytest.mark.parametrize(
    "text",
    [
        "---\n{a: b, c: d}\n---\n",
        "---\n  a: b\n  c: d\n---\n",
        "---\na: &x [1]\nc: *x\n---\n",  # `c` would be what it isn't
    ],
)
def test_what_cannot_be_changed_alone_is_refused(text):
    with pytest.raises(InvalidError) as caught:
        with_property(text, "a", "new")
    assert caught.value.hint


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\rb"])
def test_a_name_must_be_one_line(name):
    with pytest.raises(InvalidError):
        with_property("body", name, "x")


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("---\na: yes\nb: on\nc: 0777\nd: 1_0\ne: ~\nf: 1.5\n---\n",
         {"a": "yes", "b": "on", "c": 777, "d": 10, "e": None, "f": 1.5}),
        ("---\ntags: [a, b]\naliases:\n  - One\n  - 'Two: b'\n---\n",
         {"tags": ["a", "b"], "aliases": ["One", "Two: b"]}),
        ("---\ntitle: Governance: Rootkeeper\n---\n", {"title": "Governance: Rootkeeper"}),
        ("---\nwhen: 2027-01-03\nat: 2027-01-03T04:05:06\n---\n",
         {"when": dt.date(2027, 1, 3), "at": dt.datetime(2027, 1, 3, 4, 5, 6)}),  # noqa: DTZ001
        ("---\nlink: [[Note]]\n---\n", {"link": [["Note"]]}),
        ("---\n1: a\n---\n", {"1": "a"}),
        ("---\na: {b: {c: d}}\n---\n", {"a": {"b": {"c": "d"}}}),
    ],
)  # fmt: skip
def test_reading(text, properties):
    assert dict(read(text).properties) == properties


def test_a_few_lines_that_stand_for_billions_of_values_are_refused():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for number in range(1, 9):
        items = ", ".join([f"*a{number - 1}"] * 9)
        lines.append(f"a{number}: &a{number} [{items}]")
    text = "---\n" + "\n".join(lines) + "\n---\n"
    assert "too many values" in read(text).error


@given(st.text(alphabet="ab:#-'\"[]{}&*!|>% \t\n\r,0123\ufeff\x85\x00", max_size=60))
def test_any_yaml_is_read_or_refused_with_a_line_of_it(content):
    frontmatter = read(f"---\n{content}\n---\n")
    if frontmatter is not None and frontmatter.error:
        assert 2 <= frontmatter.line <= content.count("\n") + content.count("\r") + 3
        assert frontmatter.column >= 1


@given(st.text(alphabet="ab:#-'\"[] \n", max_size=40), VALUES)
def test_any_yaml_is_changed_rightly_or_not_at_all(content, value):
    text = f"---\n{content}\n---\nbody"
    before = read(text)
    try:
        changed = with_property(text, "a", value)
    except InvalidError:
        return
    after = read(changed)
    assert changed[after.span.end :] == text[before.span.end :] if before else True
    others = dict(before.properties) if before else {}
    assert repr({**others, "a": value}) == repr(dict(after.properties))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_the_corpus_keeps_its_bytes_outside_the_property(path):
    text = path.read_bytes().decode()
    frontmatter = read(text)
    if path.stem == "broken_yaml":
        with pytest.raises(InvalidError):
            with_property(text, "status", "done")
        return
    body = text[frontmatter.span.end :] if frontmatter else text.removeprefix("\ufeff")
    changed = with_property(text, "added", ["one", "two: three"])
    assert changed.endswith(body)
    if frontmatter:
        assert changed.startswith(text[: frontmatter.content.end])
        assert without_property(changed, "added") == text
    for name in frontmatter.properties if frontmatter else ():
        shorter = without_property(text, name)
        assert shorter.endswith(body)
        assert len(shorter) < len(text)
