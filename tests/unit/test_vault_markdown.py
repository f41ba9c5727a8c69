"""What a note is taken to consist of, and that nothing in it is out of place."""

import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from eris.vault.block_rules import unified_line_ends
from eris.vault.blocks import BlockScanner
from eris.vault.markdown import parse
from eris.vault.note import LinkKind

CORPUS = sorted((Path(__file__).parents[1] / "data" / "vault").glob("*.md"))
PIECES = st.sampled_from(
    ["[[", "]]", "[", "]", "(", ")", "!", "#", "##", "#a", "#1", "`", "```", "~~~", "%%", "$", "$$",
     "<", ">", "<!--", "-->", "<b>", "|", "\\", "\\|", "-", "*", "1.", "[x]", "^id", ":",
     "http://x.y", "[a](b.md)", "[r]:", "x", "[^1]:", "---", "===", "|-|-|", "tags:", "title:", "é",
     "日", "🎉", "\u2028", "\ufeff", "\x00", "\n", "\r\n", "\r", "\n\n", "\t", "    ", "> ",
     "- [ ] ", " ^b\n", "---\n", "\x0b", "\x85"]
)  # fmt: skip
AWKWARD = st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text(max_size=3))).map("".join))


def read(name):
    return parse((CORPUS[0].parent / name).read_bytes().decode())


def targets(text):
    return [link.target for link in parse(text).links]


@given(AWKWARD)
def test_every_span_holds_what_it_claims(text):
    note = parse(text)
    for link in note.links:
        written = link.span.of(text)
        assert link.target_span.of(text) in written
        if link.kind is LinkKind.MARKDOWN:
            assert written[0] in "[!"
        else:
            anchor = f"#{link.anchor}" if "#" in link.target_span.of(text) else ""
            assert link.target_span.of(text) == link.target + anchor
            assert written.startswith("![[" if link.embed else "[[")
            assert written.endswith("]]")
            if link.shown is not None:
                assert written.endswith(f"|{link.shown}]]")
    for tag in note.tags:
        assert tag.span.of(text).removeprefix("#") == tag.name
    for heading in note.headings:
        assert heading.title in heading.span.of(text)
        assert heading.section.start == heading.span.start
        assert heading.span.end <= heading.section.end
    for block in note.blocks:
        assert f"^{block.name}" in text[block.span.start :]
    for task in note.tasks:
        assert f"[{task.mark.of(text)}]" in task.span.of(text)
        assert task.span.of(text).rstrip().endswith(task.text)
        assert "\n" not in task.span.of(text)


@given(AWKWARD)
def test_nothing_is_found_in_an_opaque_range_and_these_are_apart(text):
    note = parse(text)
    for one, other in zip(note.opaque, note.opaque[1:], strict=False):
        assert one.end <= other.start
    for hidden in note.opaque:
        assert hidden.start < hidden.end
        for found in (*note.links, *note.tags, *note.headings, *note.tasks):
            assert not hidden.start <= found.span.start < found.span.end <= hidden.end


@given(AWKWARD)
def test_line_ends_and_a_byte_order_mark_change_no_finding(text):
    plain = text.replace("\r", "").lstrip("\ufeff")
    expected = parse(plain)
    for other in (parse(plain.replace("\n", "\r\n")), parse("\ufeff" + plain)):
        assert [link.target for link in other.links] == [link.target for link in expected.links]
        assert [tag.name for tag in other.tags] == [tag.name for tag in expected.tags]
        assert [task.text for task in other.tasks] == [task.text for task in expected.tasks]
        assert [each.name for each in other.blocks] == [each.name for each in expected.blocks]
        assert len(other.headings) == len(expected.headings)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_must_not_be_found_in_the_corpus_is_not(path):
    note = parse(path.read_bytes().decode())
    assert not {"no", "No", "hidden"} & {link.target for link in note.links}
    assert "no" not in {tag.name for tag in note.tags}
    assert "no" not in {heading.title for heading in note.headings}
    assert "no" not in {task.text for task in note.tasks}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # V16
        ("`[[x]]`", []),
        ('```bash\n[[ ! -f "$F" ]]\n```', []),
        ("    [[x]]", []),
        ("%%[[x]]%% [[y]]", ["y"]),
        ("%%\n\n[[x]]\n\n%%\n[[y]]", ["y"]),
        ("$[[x]]$ [[y]]", ["y"]),
        ("$$\n[[x]]\n$$\n[[y]]", ["y"]),
        ("cost $5 [[y]] and $6", ["y"]),
        ("text <!-- [[x]] --> [[y]]", ["y"]),
        ("<!-- [[x]] --> [[no]]\n[[y]]", ["y"]),  # all of the line is HTML
        ("\\[[x]]", []),
        ("``[[x]] ` [[y]]", ["x", "y"]),
        ("> `a\n> [[x]]`\n> [[y]]", ["y"]),
        ("[[Note]]", ["Note"]),
        ("[[ Note ]]", ["Note"]),
        ("[[]] [[ ]] [[|x]]", []),
        ("[[a\nb]]", []),
        ("[[[x]]]", ["x"]),
        ("[[#Heading]]", [""]),
        ("| a |\n|---|\n| [[x\\|y]] |", ["x"]),
        ("[a](b%20c.md)", ["b c.md"]),
        ("[a](<b c.md>)", ["b c.md"]),
        ("[a](b.md 'title')", ["b.md"]),
        ("[a](b(1).md)", ["b(1).md"]),
        ("[a](100%.md)", ["100%.md"]),
        ("[a](%ff.md)", ["%ff.md"]),
        ("[a](b c.md)", []),
        ("[a]()", []),
        ("[a](https://x.y/b.md)", []),
        ("[a](mailto:b@x.y) [a](//x.y)", []),
        ("[![a](i.png)](b.md)", ["b.md", "i.png"]),
        ("[a [b](c.md)](d.md)", ["c.md"]),
        ("[a][r]\n\n[r]: b.md 'T'", ["b.md"]),
        ("[r]: <b c.md>", ["b c.md"]),
        ("[r]: https://x.y", []),
        ("[^1]: b.md", []),
        ("[^1]: [[x]]", ["x"]),
        ("- [ ] [[x]]\n  - [[y]]", ["x", "y"]),
        ("---\na: '[[x]]'\nb: [[y]]\n# [[z]]\nc:\n  - \"[[w#h|s]]\"\n---\n", ["x", "w"]),
        ("---\na: '[[it''s]]'\nb: \"[[x \\\\ \\\"y\\\"]]\"\n---\n", ["it's", 'x \\ "y"']),
        ("x https://a.b/[[x]]", ["x"]),
    ],
)
def test_links(text, found):
    assert targets(text) == found


def test_a_link_has_its_parts():
    (link,) = parse("see ![[Folder/Note#H1#^b|shown [1] so]] there").links
    assert (link.target, link.anchor, link.shown, link.embed) == (
        "Folder/Note", "H1#^b", "shown [1] so", True,
    )  # fmt: skip
    (link,) = parse("[*s*](A%20b.md#C%20d)").links
    assert (link.target, link.anchor, link.shown, link.kind) == (
        "A b.md", "C d", "*s*", LinkKind.MARKDOWN,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#1984 #y2k #a-b_c/d", ["y2k", "a-b_c/d"]),
        ("url#frag a#b (#c)", []),
        ("https://x.y/ #z https://x.y/#frag", ["z"]),
        ("`#fff` and\n\n```css\na { color: #fff }\n```", []),
        ("#a, #b. #c! **#d** ==#e==", ["a", "b", "c", "d", "e"]),
        ("# #h\n#t", ["h", "t"]),
        ("#标签\uff0c和 #über #🎉", ["标签", "über", "🎉"]),
        ("#a/ #/ #-", ["a", "-"]),
        ("\\#a ##b", []),
        ("| #a |#b|\n|---|---|\n", ["a", "b"]),
        ("---\ntags: [a, '#b', 1984, c/d]\n---\n#e", ["a", "b", "c/d", "e"]),
        ("---\ntags: a, b\n---\n", ["a", "b"]),
        ("---\nTags:\n  - a\n  - b\nother: c\n---\n", ["a", "b"]),
        ("---\ntitle: a\ntags: a\n---\n", ["a"]),
    ],
)
def test_tags(text, found):
    assert [tag.name for tag in parse(text).tags] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- [ ] a\n* [x] b\n+ [/] c\n1. [-] d\n2) [>] e",
         [(" ", "a"), ("x", "b"), ("/", "c"), ("-", "d"), (">", "e")]),
        ("- a\n\t- [ ] b", [(" ", "b")]),
        ("> - [ ] a\n> > 1. [x] b", [(" ", "a"), ("x", "b")]),
        ("- [x](y) and [ ] z\n[ ] w\n- [xx] v\n- []", []),
        ("```\n- [ ] a\n```\n%%\n- [ ] b\n%%", []),
    ],
)  # fmt: skip
def test_tasks(text, found):
    assert [(task.mark.of(text), task.text) for task in parse(text).tasks] == found


def test_headings_have_sections_that_end_at_the_next_as_high():
    text = "# A\na\n## B ##\nb\n### C\nc\n## D\nd\n\nE\nF\n===\ne"
    note = parse(text)
    assert [(each.level, each.title, each.section.of(text)) for each in note.headings] == [
        (1, "A", "# A\na\n## B ##\nb\n### C\nc\n## D\nd\n\n"),
        (2, "B", "## B ##\nb\n### C\nc\n"),
        (3, "C", "### C\nc\n"),
        (2, "D", "## D\nd\n\n"),
        (1, "E\nF", "E\nF\n===\ne"),
    ]


@pytest.mark.parametrize(
    ("text", "name", "block"),
    [
        ("one\ntwo ^a-1\n", "a-1", "one\ntwo ^a-1"),
        ("- x\n- y ^b\n  - z\n", "b", "- y ^b\n  - z"),
        ("| a |\n|---|\n| b |\n\n^t\n", "t", "| a |\n|---|\n| b |"),
        ("> q\n\n^q\n", "q", "> q"),
        ("```\nx\n```\n^c\n", "c", "```\nx\n```"),
    ],
)
def test_blocks(text, name, block):
    (found,) = parse(text).blocks
    assert (found.name, found.span.of(text)) == (name, block)


@pytest.mark.parametrize(
    ("text", "properties", "body"),
    [
        ("---\na: b\n---\nx", {"a": "b"}, "x"),
        ("\ufeff---\r\na: 1\r\n---\r\nx", {"a": 1}, "x"),
        ("---\n---\nx", {}, "x"),
        ("\n---\na: b\n---\nx", {}, "\n---\na: b\n---\nx"),
        ("---\na: b\nx", {}, "---\na: b\nx"),
        ("---\na: b\n---\n---\nc: d\n---\n", {"a": "b"}, "---\nc: d\n---\n"),  # V01
    ],
)
def test_frontmatter_is_only_at_the_very_start(text, properties, body):
    note = parse(text)
    assert dict(note.properties) == properties
    assert text[note.body_start :] == body


def test_a_note_with_broken_properties_is_read_all_the_same():
    """V02."""
    note = read("broken_yaml.md")
    assert note.frontmatter.error
    assert note.properties == {}
    assert [link.target for link in note.links] == ["Still found"]
    assert [tag.name for tag in note.tags] == ["tag"]


def seconds(text):
    """Return the processor time that reading a text takes."""
    times = []
    for _ in range(2):
        start = time.process_time()
        parse(text)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize(
    "piece",
    ["[", "]", "[[", "[[a|", "[a](b", "[a](<b", "](", "]]", "!", "#", "#a", "`", "``", "``a`", "$",
     "$$", "$a", "%%", "<", "<a", "<!--", "<a>", "http://x", "://", "\\", "|", ">", "-", "[x]:",
     "*", "_", "(", ")", "^a", "[^1]", "&amp;", "a", "> ", "- ", "* * ", "[ ] ", "<a b='", "\t",
     " ", "é", "[a\n", "> a\n", "- a\n", "$$a\n", "%%a\n", "| a\n", "a\n=\n", "[a]: b\n", "```\n"],
)  # fmt: skip
def test_ten_times_the_text_takes_about_ten_times_as_long(piece):
    """Were a step quadratic, it would take a hundred times as long."""
    small, large = (piece * (size // len(piece)) + "\n\n# After" for size in (10_000, 100_000))
    assert seconds(large) < 40 * max(seconds(small), 0.001)


def documents(*margins):
    """Draw lines that begin with some of these margins."""
    lines = st.tuples(
        st.lists(st.sampled_from(margins), max_size=4).map("".join), st.sampled_from(STARTS)
    )
    return st.lists(lines.map("".join), max_size=12).map(
        lambda drawn: "start\n\n" + "\n".join(drawn).rstrip(" \t\n>")
    )


STARTS = (
    "", "", "text", "more text", "# H", "## H ##", "#", "#x", "===", "---", "***", "- - -", "```",
    "````", "``` x", "``` a`b", "~~~", "~~~~", "<div>", "</div>", "<!-- a", "b -->", "<b>",
    "<b> x", "<script>", "</script>", "<?x", "?>", "[r]: x\n", "-", "*", "1.", "1", "\\# x", "3. a",
    "- a", "| a |", "|---|", "&nbsp;",
)  # fmt: skip
ITEMS = ("- ", "* ", "+   ", "1. ", "2) ", "10. ", "-\t", "\t", " ", "  ", "   ", "    ", "      ")
QUOTES = (">", "> ", "> ", "- ", "1. ")


def blocks_here(text):
    """Return the lines of headings, items, and blocks that hide what is in them, as found here."""
    note = parse(text)
    scanner = BlockScanner(text, 0)
    scanner.scan()
    return (
        [(note.line(each.span.start), each.level) for each in note.headings],
        sorted(note.line(each.span.start) for each in note.items),
        [(note.line(each.start), note.line(each.end)) for each in scanner.opaque],
    )


def blocks_there(text):
    """Return the same as markdown-it finds them."""
    headings, items, hidden = [], [], []
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "heading_open" and token.level == 0:
            headings.append((token.map[0] + 1, int(token.tag[1:])))
        elif token.type == "list_item_open":
            items.append(token.map[0] + 1)
        elif token.type in {"fence", "code_block", "html_block"}:
            start, end = token.map
            hidden.append((start + 1, end))
    return headings, sorted(items), hidden


def known_to_differ(text):
    """Whether markdown-it may depart from CommonMark: at a paragraph's line that looks like code.

    It's such a line, by at least four columns, below one of an item whose text is further right.
    """
    lines = text.expandtabs(4).split("\n")
    for above, line in pairwise(lines):
        indent = len(line) - len(line.lstrip())
        text_above = re.match(r"(?:\s*(?:[-+*]|\d+[.)])(?= ))*\s*", above).end()
        if line.strip() and above.strip() and indent >= 4 and text_above > indent:
            return True
    return False


@given(documents(*ITEMS) | documents(*QUOTES))
def test_blocks_are_those_of_commonmark(text):
    assume(not known_to_differ(text))
    assert blocks_here(text) == blocks_there(text)


@pytest.mark.parametrize(
    "text",
    [
        text
        for note in (parse(path.read_bytes().decode()) for path in CORPUS)
        # What Obsidian adds to CommonMark hides headings and items.
        if not re.search(r"%%|\$\$", text := note.text[note.body_start :].rstrip())
    ],
)
def test_blocks_of_the_corpus_are_those_of_commonmark(text):
    text = "start\n\n" + unified_line_ends(text)
    assert blocks_here(text) == blocks_there(text)
