"""HTML as text, by selectolax: paragraphs as a reader sees them, without what isn't shown."""

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

from selectolax.lexbor import LexborHTMLParser, LexborNode

from actors.memory.extracting.document import Opened, numbered, sections, sound, sound_title
from actors.memory.extracting.text import decoded

_UNSHOWN = (
    "script, style, noscript, template, nav, svg, iframe, object, canvas, button, select, "
    "[role=navigation], [hidden], [aria-hidden=true]"
)
_BLOCKS = (
    "address,article,aside,blockquote,body,dd,details,dialog,div,dl,dt,fieldset,figcaption,figure,"
    "footer,form,h1,h2,h3,h4,h5,h6,header,hr,li,main,ol,p,pre,section,summary,table,ul"
)
_SPACES = re.compile(r"[ \t\n\f\r]+")
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]{2,40})", re.IGNORECASE)
_DECLARED_BYTES = 2048
_PARAGRAPH = "\n\n"
_OPENING = dict.fromkeys(_BLOCKS.split(","), _PARAGRAPH) | {"br": "\n", "tr": "\n"}
_CLOSING = dict.fromkeys(_BLOCKS.split(","), _PARAGRAPH) | {"td": " | ", "th": " | "}


def open_html(stream: BinaryIO) -> Opened:
    """Open an HTML file. It has no pages: sections stand in for them."""
    title, paragraphs = html_text(stream.read())
    pages = sections(paragraphs)
    return Opened(form="html", pages=len(pages), content=numbered(pages), title=title)


def html_text(content: bytes) -> tuple[str, list[str]]:
    """Return the title and the paragraphs of an HTML file."""
    tree = LexborHTMLParser(decoded(content, _declared(content)))
    for node in tree.css(_UNSHOWN):
        if node.tag not in {"html", "body"}:
            node.decompose()
    title = tree.css_first("head title")
    body = tree.body
    text = "".join(_shown(body)) if body else ""
    paragraphs = [_tidy(each) for each in text.split(_PARAGRAPH)]
    return sound_title(title.text() if title else ""), [each for each in paragraphs if each]


def _declared(content: bytes) -> str:
    """Return the encoding that a file says it has, if there's such a one."""
    found = _CHARSET.search(content[:_DECLARED_BYTES])
    try:
        return codecs.lookup(found[1].decode("ascii")).name if found else ""
    except LookupError:
        return ""


def _shown(root: LexborNode) -> Iterator[str]:
    """Give the text with its breaks, without recursion: documents can be nested without end."""
    waiting: list[tuple[LexborNode, bool]] = [(root, False)]
    while waiting:
        node, is_over = waiting.pop()
        if is_over:
            yield _CLOSING.get(node.tag or "", "")
            continue
        if node.is_text_node:
            text = node.text_content or ""
            yield text if _in_pre(node) else _SPACES.sub(" ", text)
            continue
        yield _OPENING.get(node.tag or "", "")
        waiting.append((node, True))
        below: list[tuple[LexborNode, bool]] = []
        child = node.child
        while child is not None:
            below.append((child, False))
            child = child.next
        waiting.extend(reversed(below))


def _in_pre(node: LexborNode) -> bool:
    return node.parent is not None and node.parent.tag in {"pre", "code", "textarea"}


def _tidy(paragraph: str) -> str:
    lines = (line.rstrip(" |\t") for line in sound(paragraph).split("\n"))
    return "\n".join(line if line.startswith("  ") else line.strip() for line in lines).strip("\n")
