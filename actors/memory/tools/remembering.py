"""Tools that keep facts, turn them into notes, and take them back."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from actors.memory.tools.port import Asked, MemoryService
from eris.errors import DeniedError
from eris.tools import Call, Outcome, Tool
from proto.memory import MemoryChanged, MemoryState, MemoryView
from proto.tools import Effect

_MOST_SHOWN = 20
_LONGEST_LINE = 160

MemoryName = Annotated[str, Meta(description="The memory, such as m3, or its title", min_length=1)]

_TEXT_NAMES = ("content", "fact", "memory", "note", "statement", "value", "what", "data", "body")
_MEMORY_ALIASES = dict.fromkeys(
    ("id", "memory_id", "staged_id", "title", "name", "text", "item"), "memory"
)


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``memory:stage``."""

    text: Annotated[
        str, Meta(description="The fact as one sentence, in the user's own words", min_length=1)
    ]
    title: Annotated[str, Meta(description="What it's about, in one to three words")] = ""
    tags: Annotated[tuple[str, ...], Meta(description="Tags, if the user names any")] = ()


class StagedList(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``memory:staged_list``."""


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``memory:commit``."""

    memory: MemoryName
    replaces: Annotated[
        str, Meta(description="The memory that doesn't hold any more, such as m2; else empty")
    ] = ""
    keep_both: Annotated[bool, Meta(description="true if both of two memories hold")] = False


class CommitAll(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``memory:commit_all``."""


class Forget(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``memory:forget``."""

    memory: MemoryName


class AboutMe(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``memory:about_me``."""

    add: Annotated[str, Meta(description="A line to add, such as: Call me Robin.")] = ""
    remove: Annotated[str, Meta(description="A line to remove; with add, the one it replaces")] = ""


def remembering_tools(service: MemoryService) -> tuple[Tool[Any], ...]:
    """Declare them."""

    def stage(arguments: Stage, call: Call) -> Outcome:
        changed = service.stage(Asked.by(call), arguments.text, arguments.title, arguments.tags)
        return changed_told(changed)

    def staged_list(_arguments: StagedList, _call: Call) -> Outcome:
        return staged_told(list(service.staged()))

    def commit(arguments: Commit, call: Call) -> Outcome:
        asked = Asked.by(call)
        if arguments.replaces:
            _refuse_untrusted(asked, f"replace {arguments.replaces}")
        return changed_told(
            service.commit(
                asked, arguments.memory, arguments.replaces, keep_both=arguments.keep_both
            )
        )

    def commit_all(_arguments: CommitAll, call: Call) -> Outcome:
        answer = service.commit_all(Asked.by(call))
        saved = ", ".join(f"{each.id} in {each.path}" for each in answer.committed)
        message = f"saved {saved}" if saved else ""
        lines = [sentence(message) if message else "No memory was committed."]
        lines += [
            f"{each.memory.id} '{each.memory.title}' was left: {each.why}." for each in answer.left
        ]
        if not answer.committed and not answer.left:
            lines.append("Nothing is staged.")
        return Outcome(
            content="\n".join(lines),
            receipt=message,
            data={"committed": len(answer.committed), "left": len(answer.left)},
        )

    def forget(arguments: Forget, call: Call) -> Outcome:
        asked = Asked.by(call)
        _refuse_untrusted(asked, f"forget {arguments.memory}")
        return changed_told(service.forget(asked, arguments.memory))

    def about_me(arguments: AboutMe, call: Call) -> Outcome:
        asked = Asked.by(call)
        _refuse_untrusted(asked, "change what is known about the user")
        changed = service.about_me(asked, arguments.add, arguments.remove)
        parts = [sentence(changed.receipt)] if changed.receipt else ["Nothing was changed."]
        return Outcome(
            content=" ".join([*parts, changed.note]).strip(),
            receipt=changed.receipt,
            data={"path": changed.path},
        )

    return (
        Tool(
            name="memory:stage",
            description="Remember a fact that the user states and wants remembered, for all later "
            "conversations.",
            hints=(
                "Remember that.",
                "Please remember that my shoe size is 42.",
                "Remember this for later: my locker number is 12.",
                "Keep in mind that I'm allergic to nuts.",
                "Don't forget that the spare key is with Tom.",
                "Merk dir das.",
                "Merk dir bitte, dass ich kein Fleisch esse.",
                "Memorise this for the future.",
                "Remember that Anna's birthday is on 3 May.",
            ),
            arguments=Stage,
            handler=stage,
            effect=Effect.WRITE,
            aliases=dict.fromkeys(_TEXT_NAMES, "text")
            | dict.fromkeys(("name", "subject", "topic", "key"), "title")
            | {"tag": "tags"},
            receipt="remembered {id}: {text}",
        ),
        Tool(
            name="memory:staged_list",
            description="List what was remembered lately and isn't saved as a note yet.",
            hints=(
                "What have you remembered lately?",
                "Show the staged memories.",
                "Which memories aren't saved yet?",
                "What is waiting to be committed?",
                "list staged memories",
                "Which facts did I ask you to remember today?",
            ),
            arguments=StagedList,
            handler=staged_list,
            effect=Effect.READ,
        ),
        Tool(
            name="memory:commit",
            description="Save one remembered fact for good, as a note; also decides which of two "
            "contradicting facts holds.",
            hints=(
                "Commit m3.",
                "Commit this memory.",
                "Save memory m2 permanently.",
                "m5 replaces m2.",
                "Commit m4, it replaces the old memory.",
                "Both memories are true, keep both.",
                "Keep that memory for good.",
            ),
            arguments=Commit,
            handler=commit,
            effect=Effect.WRITE,
            aliases=_MEMORY_ALIASES
            | dict.fromkeys(("replace", "replaced", "old", "supersedes", "instead_of"), "replaces")
            | dict.fromkeys(("both", "keep"), "keep_both"),
            receipt="saved {id} in {path}",
        ),
        Tool(
            name="memory:commit_all",
            description="Save every remembered fact about which there is no question for good, as "
            "notes.",
            hints=(
                "Commit all memories.",
                "Save everything you remembered.",
                "Keep all of them for good.",
                "Commit everything that is staged.",
                "Save all staged memories as notes.",
            ),
            arguments=CommitAll,
            handler=commit_all,
            effect=Effect.WRITE,
            receipt="saved {id} in {path}",
        ),
        Tool(
            name="memory:forget",
            description="Forget a remembered fact: it's not recalled any more, and its note goes "
            "to the trash.",
            hints=(
                "Forget that.",
                "Forget m3.",
                "Forget what I told you.",
                "You can forget that again.",
                "Don't remember that any more.",
                "Vergiss das wieder.",
                "Delete this memory.",
                "That's not true any more, forget it.",
            ),
            arguments=Forget,
            handler=forget,
            effect=Effect.WRITE,
            aliases=_MEMORY_ALIASES | {"fact": "memory"},
            receipt="forgot {id}: {text}",
        ),
        Tool(
            name="memory:about_me",
            description="Change what is always known about the user: their name, how to address "
            "them, how they want answers.",
            hints=(
                "Call me Robin from now on.",
                "My name is Robin.",
                "Always answer in short sentences.",
                "Address me formally.",
                "From now on, always use metric units.",
                "Nenn mich ab jetzt Alex.",
                "Stop calling me by my last name.",
                "I prefer answers in German.",
            ),
            arguments=AboutMe,
            handler=about_me,
            effect=Effect.WRITE,
            aliases=dict.fromkeys(("text", "content", "line", "fact", "new"), "add")
            | dict.fromkeys(("old", "delete", "replaces"), "remove"),
            receipt="added 'line' in {path}",
        ),
    )


def changed_told(changed: MemoryChanged) -> Outcome:
    """Say what became of a memory."""
    memory = changed.memory
    parts = [sentence(changed.receipt)] if changed.receipt else []
    if changed.note:
        parts.append(changed.note)
    if memory.state is MemoryState.STAGED and memory.expires and not memory.contradicts:
        parts.append(f"It's kept until {memory.expires[:10]} unless it's committed.")
    data: dict[str, str | int] = {"id": memory.id, "state": memory.state.value}
    if memory.path:
        data["path"] = memory.path
    return Outcome(content="\n".join(parts), receipt=changed.receipt, data=data)


def staged_told(staged: list[MemoryView]) -> Outcome:
    """List what isn't committed."""
    if not staged:
        return Outcome(content="Nothing is staged.", data={"found": 0})
    number = len(staged)
    lines = [f"{number} {'memory isn' if number == 1 else 'memories aren'}'t committed:"]
    for each in staged[:_MOST_SHOWN]:
        details = [f"since {each.created[:10]}"]
        if each.expires:
            details.append(f"goes on {each.expires[:10]}")
        if each.state is MemoryState.WAITING:
            details.append(
                f"waits for the user's yes{f', comes from {each.origin}' if each.origin else ''}"
            )
        if each.contradicts:
            details.append(f"contradicts {', '.join(each.contradicts)}")
        lines.append(f"{each.id}: {line_told(each.text)} ({'; '.join(details)})")
    if number > _MOST_SHOWN:
        lines.append(f"({number - _MOST_SHOWN} more aren't shown.)")
    waiting = [each for each in staged if each.state is MemoryState.WAITING]
    return Outcome(
        content="\n".join(lines),
        data={"found": number},
        untrusted=", ".join(dict.fromkeys(each.origin or "others" for each in waiting)),
    )


def sentence(message: str) -> str:
    """Return what was done as a sentence."""
    ended = message.endswith((".", "!", "?", "…"))
    return f"{message[:1].upper()}{message[1:]}{'' if ended else '.'}"


def line_told(text: str, longest: int = _LONGEST_LINE) -> str:
    """Return a text on one line, short enough for a list."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _refuse_untrusted(asked: Asked, what: str) -> None:
    if asked.untrusted:
        raise DeniedError(
            f"This turn has text from outside in it ({asked.untrusted}), which must not {what}.",
            hint="Ask the user to say it again in a message of its own.",
        )
