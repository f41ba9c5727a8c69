"""Ollama's own protocol, whose ``format`` takes a JSON Schema."""

from typing import Any, Final

from actors.inference.remote.schema_server import SchemaServer, by_name, plain_messages, schema_of
from actors.inference.remote.writing import Piece
from eris.errors import ProtocolError
from proto.inference import FinishReason, Generate, ModelDescription

_NANOSECONDS: Final = 1e9


class Ollama(SchemaServer):
    """An Ollama server."""

    start: Final = "Start it: ollama serve."
    by_grammar: Final = False

    def ask_facts(self) -> ModelDescription:
        """Ask the server what it has, and how long a context the model was trained for."""
        names = by_name(self.client.ask("/api/tags").get("models"), "name")
        # Ollama takes a name without a tag for the latest one.
        latest = f"{self.settings.server_model}:latest"
        name = latest if latest in names else self.choose(names)
        info = self.client.ask("/api/show", {"model": name}, model=name).get("model_info") or {}
        trained = next(
            (int(value) for key, value in info.items() if key.endswith(".context_length")), 0
        )
        wanted = self.settings.context_length
        return ModelDescription(
            name=name,
            path="",
            # Always the same: another length makes Ollama load the model anew.
            context_length=min(wanted, trained) if trained else wanted,
            trained_context_length=trained,
            vocabulary=0,
            parameters=int(info.get("general.parameter_count") or 0),
            size_bytes=int(names.get(name, {}).get("size") or 0),
            threads=0,
            load_seconds=0.0,
            template="server",
            engine=self.settings.engine,
            url=str(self.address),
            exact_counts=False,
        )

    def request(
        self, body: Generate, facts: ModelDescription, limit: int, *, form: bool
    ) -> tuple[str, dict[str, Any]]:
        """Return path and body of a request."""
        request: dict[str, Any] = {
            "model": facts.name,
            "messages": plain_messages(body.messages),
            "stream": True,
            "options": {
                "num_ctx": facts.context_length,
                "num_predict": limit,
                "temperature": body.temperature,
                "top_k": body.top_k,
                "top_p": body.top_p,
                "min_p": body.min_p,
                "repeat_penalty": body.repeat_penalty,
                "seed": body.seed,
            },
        }
        schema = schema_of(body) if form else {}
        return "/api/chat", {**request, "format": schema} if schema else request

    def read(self, event: dict[str, Any]) -> Piece:
        """Understand one line of the answer."""
        if error := event.get("error"):
            raise ProtocolError(
                f"The model server at {self.address} failed while it answered: {error}."
            )
        message = event.get("message") or {}
        text, thought = str(message.get("content") or ""), str(message.get("thinking") or "")
        if not event.get("done"):
            return Piece(text=text, thought=thought)
        spent = event.get("prompt_eval_duration")
        return Piece(
            text=text,
            thought=thought,
            generated=event.get("eval_count"),
            prompt=event.get("prompt_eval_count"),
            prefill_seconds=spent / _NANOSECONDS if spent is not None else None,
            finish=FinishReason.LENGTH
            if event.get("done_reason") == "length"
            else FinishReason.STOP,
            last=True,
        )
