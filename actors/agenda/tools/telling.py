"""What the model is told: short, absolute, in the past tense."""

from eris.tools import Outcome
from proto.agenda import AgendaChanged


def changed_told(changed: AgendaChanged) -> Outcome:
    """Say what became of an item."""
    item = changed.item
    parts = [sentence(changed.receipt)]
    parts += [f"Assumed: {'; '.join(changed.assumed)}."] if changed.assumed else []
    data: dict[str, str | int] = {
        "id": item.id,
        "kind": item.kind.value,
        "state": item.state.value,
    }
    if item.next_due:
        data |= {"due": int(item.next_due), "local": item.next_local}
    return Outcome(content="\n".join(parts), receipt=changed.receipt, data=data)


def sentence(message: str) -> str:
    """Return what was done as a sentence."""
    ended = message.endswith((".", "!", "?", "…"))
    return f"{message[:1].upper()}{message[1:]}{'' if ended else '.'}"
