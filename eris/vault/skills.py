"""Skills: folders with a `SKILL.md` that says how some kind of work is done; pure.

The format is that of Agent Skills (agentskills.io): properties with a `name` and a `description` of
what the skill does and when it's wanted, then instructions. A skill is text for the model and never
run. One that breaks the rules doesn't hide the others: it's left out, and a sentence says why.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

import msgspec

from eris.errors import ErisError, InvalidError
from eris.vault.file_names import name_problem, printable, shown
from eris.vault.frontmatter import read, with_property
from eris.vault.note import Frontmatter

FILE_NAME = "SKILL.md"

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
"""Characters; both limits are the convention's."""

LONGEST_FILE = 100_000
"""Characters above which a file isn't read. The convention advises 500 lines."""

MOST_SKILLS = 500
"""Skills of one vault; what goes beyond is left out."""

MOST_IN_PROMPT = 2
"""Skills that one prompt gets: a small model follows none of several."""

_CUT = "[shortened]"
_SHORTEST_BODY = 80


class Skill(msgspec.Struct, frozen=True):
    """A skill that can be used."""

    name: str
    """Lower-case letters, digits and single hyphens between them."""
    description: str
    """What it does and when it's wanted, on one line."""
    path: str
    """Of its file, from the vault's folder."""
    body: str
    """The instructions, in Markdown."""


class Problem(msgspec.Struct, frozen=True):
    """What is wrong with a skill's file, and what to do about it."""

    path: str
    message: str


class Skills(msgspec.Struct, frozen=True):
    """The skills of a vault, by name, and the files that aren't as they should be."""

    found: tuple[Skill, ...]
    problems: tuple[Problem, ...]


def is_skill_file(path: str) -> bool:
    """Whether a file of this path, from the vault's folder, is that of a skill."""
    folder, _, name = path.rpartition("/")
    return bool(folder) and name.casefold() == FILE_NAME.casefold()


def skill_path(folder: str, name: str) -> str:
    """Return the path of a new skill's file.

    Args:
        folder: One of the folders for skills, from the vault's folder.
        name: Of the skill.

    Raises:
        InvalidError: The name breaks the rules, so it may well be no plain name of a folder.
    """
    return f"{folder}/{_checked_name(name, 'this skill')}/{FILE_NAME}"


def new_skill(name: str, description: str, body: str) -> str:
    """Return the text of a new skill's file.

    Raises:
        InvalidError: The name, the description or the body breaks the rules.
    """
    what = "this skill"
    name = _checked_name(name, what)
    description = _checked_description(description, what)
    if not body.strip():
        raise InvalidError(
            "The body of this skill is empty.", hint="Say step by step how the work is done."
        )
    properties = with_property(with_property("", "name", name), "description", description)
    text = f"{properties}\n{body.strip()}\n"
    _check_length(text, what)
    return text


def read_skill(text: str, path: str) -> Skill:
    """Return the skill in a file.

    Args:
        text: The file's. Of a huge file it's enough to hand over `LONGEST_FILE` characters and one.
        path: The file's, from the vault's folder.

    Raises:
        InvalidError: It's none; the sentence names the file and the field, the hint what to do.
    """
    what = shown(path)
    _check_length(text, what)
    frontmatter = read(text)
    if frontmatter is None:
        raise InvalidError(
            f"{what} has no properties at its start.",
            hint="Begin it with ---, a line `name: ...`, a line `description: ...` and ---.",
        )
    if frontmatter.error:
        raise InvalidError(
            f"The properties of {what} can't be read: {frontmatter.error}.",
            hint="Correct the YAML there.",
        )
    return Skill(
        name=_checked_name(_property(frontmatter, "name", what), what),
        description=_checked_description(_property(frontmatter, "description", what), what),
        path=path,
        body=text[frontmatter.span.end :].strip(),
    )


def read_skills(files: Iterable[tuple[str, str]]) -> Skills:
    """Return the skills in files, given as pairs of path and text.

    Of several skills with one name the first by path counts. A folder that isn't called like its
    skill is told of, though the skill counts: people rename folders.
    """
    found: dict[str, Skill] = {}
    problems: list[Problem] = []
    for path, text in sorted(files):
        try:
            skill = read_skill(text, path)
        except ErisError as error:
            problems.append(Problem(path, f"{error.message} {error.hint}"))
            continue
        folder = path.split("/")[-2] if "/" in path else ""
        if skill.name in found:
            other = shown(found[skill.name].path)
            message = f"The name {skill.name} is taken by {other}. Give one of them another name."
        elif len(found) == MOST_SKILLS:
            message = f"There are {MOST_SKILLS} skills already. Remove some of them."
        else:
            found[skill.name] = skill
            if unicodedata.normalize("NFKC", folder) == skill.name:
                continue
            message = (
                f"The skill {skill.name} is in a folder called {shown(folder)}. "
                f"Call the folder {skill.name}, so that other programs find it too."
            )
        problems.append(Problem(path, message))
    return Skills(tuple(found[name] for name in sorted(found)), tuple(problems))


def name_from(title: str) -> str:
    """Return the nearest name for a skill, such as `meeting-minutes` for "Meeting Minutes!".

    It's empty if there's none.
    """
    words = re.split(r"[\W_]+", unicodedata.normalize("NFKC", title.lower()))
    name = "-".join(filter(None, words))[:LONGEST_NAME].strip("-")
    return name if _is_name(name) else ""


def prompt_text(skills: Sequence[Skill], budget_characters: int) -> str:
    """Return what a prompt says of the skills that fit, the best first.

    Only the first `MOST_IN_PROMPT` are told of. They share the budget evenly, and what one leaves
    is the other's. A body that is longer is cut, after a whole line where that leaves enough, and
    says so.

    Args:
        skills: The skills.
        budget_characters: Most characters of the text; it may be too few for any skill.
    """
    left = budget_characters
    parts: list[str] = []
    waiting = [(skill, _told(skill)) for skill in skills[:MOST_IN_PROMPT]]
    while waiting:
        others = sum(len(text) for _, text in waiting[1:])
        skill, text = waiting.pop(0)
        room = max(left // (len(waiting) + 1), left - others)
        if len(text) > room:
            text = _shortened(skill, room)
        left -= len(text)
        parts.append(text)
    return "".join(parts)


def _told(skill: Skill, body: str | None = None) -> str:
    return f"[skill {skill.name}]\n{skill.body if body is None else body}\n"


def _shortened(skill: Skill, room: int) -> str:
    """A skill in so many characters, or nothing if hardly any of it fits."""
    space = room - len(_told(skill, f"\n{_CUT}"))
    if space < _SHORTEST_BODY:
        return ""
    cut = skill.body[:space]
    lines = cut.rpartition("\n")[0]
    return _told(skill, f"{lines if len(lines) > space // 2 else cut}\n{_CUT}")


def _property(frontmatter: Frontmatter, field: str, what: str) -> str:
    value = frontmatter.properties.get(field)
    if value is None:
        raise InvalidError(
            f"{what} has no {field}.", hint=f"Add a line `{field}: ...` between its --- lines."
        )
    if not isinstance(value, str):
        raise InvalidError(
            f"The {field} of {what} isn't text.", hint="Write it on one line, in quotes."
        )
    return value


def _checked_name(name: str, what: str) -> str:
    plain = unicodedata.normalize("NFKC", name.strip())
    if _is_name(plain):
        return plain
    better = name_from(plain)
    raise InvalidError(
        f"The name of {what} can't be {shown(plain)!r}: it has lower-case letters, digits and "
        f"single hyphens between them, {LONGEST_NAME} characters at most.",
        hint=f"Use {better or 'a name such as meeting-minutes'}.",
    )


def _is_name(name: str) -> bool:
    return (
        len(name) <= LONGEST_NAME
        and name == name.lower()
        and all(part.isalnum() for part in name.split("-"))
        and not name_problem(name)
    )


def _checked_description(description: str, what: str) -> str:
    plain = printable(" ".join(description.split()))
    if not plain:
        raise InvalidError(
            f"The description of {what} is empty.",
            hint="Say in a sentence what the skill does and when it's wanted.",
        )
    if len(plain) > LONGEST_DESCRIPTION:
        raise InvalidError(
            f"The description of {what} has {len(plain)} characters; "
            f"{LONGEST_DESCRIPTION} are the limit.",
            hint="Say in a sentence what the skill does; the rest belongs below the --- lines.",
        )
    return plain


def _check_length(text: str, what: str) -> None:
    if len(text) > LONGEST_FILE:
        raise InvalidError(
            f"The text of {what} has more than {LONGEST_FILE} characters.",
            hint="Put what isn't always needed into other notes of its folder, and link to them.",
        )
