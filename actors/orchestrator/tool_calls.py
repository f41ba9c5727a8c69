"""Has tool calls carried out by the gatekeeper, and caps what comes back."""

from collections.abc import Callable, Sequence

import msgspec

from actors.orchestrator.cancellation import Cancellation
from actors.orchestrator.generation import AWAY_SECONDS
from actors.orchestrator.journal import TurnRecord
from actors.orchestrator.results import cap, surely_fits
from actors.orchestrator.steps import CallStep, ResultStep
from eris.actor import Port
from eris.errors import RemoteError
from eris.vault.skills import Skill, prompt_text
from proto.gatekeeper import Invoke, Invoked, Ledger, LedgerEntries
from proto.inference import TextCounts, TokenizeText

CALL_SECONDS = 120.0
"""Most time of one tool call."""

SAID_CHARACTERS = 2000
"""Of the user's words, that a tool is told."""

SKILL_SECONDS = 5.0
"""How long a turn waits for the text of a skill; then it goes on without."""

READ_SKILL = "skills:read"
"""The tool that has the text of a skill."""

SETTLE_SECONDS = 2.0
"""How long a cancelled turn waits to learn what became of its last call."""


class _Paged(msgspec.Struct):
    """Arguments of a tool that can read on."""

    offset: int = 0


class ToolCalls:
    """The calls of one turn."""

    def __init__(
        self,
        record: TurnRecord,
        port: Port,
        cancellation: Cancellation,
        within: Callable[[float], float],
    ) -> None:
        """Create it; ``within`` lowers a wait in seconds to what the turn has left."""
        self._record = record
        self._port = port
        self._cancellation = cancellation
        self._within = within

    def carry_out(
        self, call: CallStep, offered: tuple[str, ...], untrusted: str = ""
    ) -> ResultStep:
        """Have a call carried out; its id makes it happen once, however often it's asked for.

        Args:
            call: The call.
            offered: The tools that were offered.
            untrusted: Where text from outside that the model has seen comes from.

        Raises:
            CancelledWorkError: The turn was stopped.
        """
        request = Invoke(
            call_id=call.call_id,
            tool=call.tool,
            arguments=call.arguments,
            origin=self._record.origin,
            offered=offered,
            session=self._record.session,
            turn=self._record.turn,
            said=self._record.text[:SAID_CHARACTERS],
            untrusted=untrusted,
        )
        try:
            invoked = self._port.ask(
                "gatekeeper",
                request,
                Invoked,
                within=self._within(CALL_SECONDS),
                trace=self._record.turn,
                retry=True,
                cancelled=self._cancellation.event,
            )
        except RemoteError as error:
            return ResultStep(
                call_id=call.call_id,
                tool=call.tool,
                arguments=call.arguments,
                ok=False,
                content=f"No result came: {error.message} It isn't known whether it was done.",
                code=error.code,
            )
        return _result(invoked, self._capped(invoked))

    def skills(self, names: Sequence[str], characters: int) -> str:
        """Return what the skills of these names say, in so many characters at most.

        They are read through the gatekeeper like anything of the vault: what the turn may read is
        decided there, and after a restart the same text comes again. One that can't be read is
        left out: a turn is worth more than its skills.

        Raises:
            CancelledWorkError: The turn was stopped.
        """
        found: list[Skill] = []
        for number, name in enumerate(names):
            request = Invoke(
                call_id=f"{self._record.turn}.skill.{number}",
                tool=READ_SKILL,
                arguments=msgspec.json.encode({"name": name}).decode(),
                origin=self._record.origin,
                offered=(READ_SKILL,),
                session=self._record.session,
                turn=self._record.turn,
            )
            try:
                invoked = self._port.ask(
                    "gatekeeper",
                    request,
                    Invoked,
                    within=self._within(SKILL_SECONDS),
                    trace=self._record.turn,
                    cancelled=self._cancellation.event,
                )
            except RemoteError as error:
                self._port.log.warning("no-skill", skill=name, code=error.code)
                continue
            if invoked.ok:
                found.append(Skill(name=name, description="", path="", body=invoked.content))
            else:
                self._port.log.warning("no-skill", skill=name, code=invoked.code)
        return prompt_text(found, characters)

    def outcome(self, call: CallStep) -> ResultStep | None:
        """Look up what became of a call that was under way when its turn was stopped."""
        try:
            ledger = self._port.ask(
                "gatekeeper",
                Ledger(turn=self._record.turn),
                LedgerEntries,
                within=SETTLE_SECONDS,
                retry=True,
            )
        except RemoteError as error:
            self._port.log.warning("unsettled-call", call=call.call_id, code=error.code)
            return None
        limit = self._port.settings.turn.result_tokens
        return next(
            (
                _result(entry, entry.content[:limit])
                for entry in ledger.entries
                if entry.call_id == call.call_id
            ),
            None,
        )

    def _capped(self, invoked: Invoked) -> str:
        limit = self._port.settings.turn.result_tokens
        if surely_fits(invoked.content, limit):
            return invoked.content
        try:
            counted = self._port.ask(
                "inference",
                TokenizeText(texts=(invoked.content,), limit=limit),
                TextCounts,
                within=self._within(AWAY_SECONDS),
                trace=self._record.turn,
                retry=True,
                cancelled=self._cancellation.event,
            )
            cut = counted.cuts[0]
        except RemoteError as error:
            # Without a count the cap is certain to hold, if not exact.
            self._port.log.warning("uncounted-result", call=invoked.call_id, code=error.code)
            cut = limit
        return cap(invoked.content, cut, invoked.tool, _offset(invoked.arguments), invoked.data)


def _result(invoked: Invoked, content: str) -> ResultStep:
    return ResultStep(
        call_id=invoked.call_id,
        tool=invoked.tool,
        arguments=invoked.arguments,
        ok=invoked.ok,
        content=content,
        code=invoked.code,
        receipt=invoked.receipt,
        elapsed_ms=invoked.elapsed_ms,
        untrusted=invoked.untrusted,
    )


def _offset(arguments: str) -> int:
    try:
        return msgspec.json.decode(arguments, type=_Paged).offset
    except msgspec.DecodeError:
        return 0
