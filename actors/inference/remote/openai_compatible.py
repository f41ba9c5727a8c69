"""Servers that speak OpenAI's protocol: vLLM, LM Studio, llama.cpp's servers and others."""

from typing import Any, Final

from actors.inference.remote.schema_server import SchemaServer, by_name, plain_messages, schema_of
from actors.inference.remote.writing import Piece
from eris.errors import ProtocolError
from proto.inference import FinishReason, Generate, ModelDescription

_LENGTH: Final = "length"


class OpenAICompatible(SchemaServer):
    """A server with ``/chat/completions`` and some kind of structured output."""

    start: Final = "Start it, such as: vllm serve MODEL --port 8000."

    @property
    def by_grammar(self) -> bool:
        """Whether the form of answers is said by grammar."""
        return self.settings.structured in {"grammar", "guided_grammar"}

    def ask_facts(self) -> ModelDescription:
        """Ask the server what it runs, and how long its context is if it says so."""
        listed = self.client.ask("/models", model=self.settings.server_model).get("data")
        models = by_name(listed, "id")
        name = self.choose(models)
        model = models.get(name, {})
        meta = model.get("meta") or {}
        said = model.get("max_model_len") or model.get("context_length") or meta.get("n_ctx")
        return ModelDescription(
            name=name,
            path="",
            context_length=int(said or self.settings.context_length),
            trained_context_length=int(meta.get("n_ctx_train") or 0),
            vocabulary=int(meta.get("n_vocab") or 0),
            parameters=int(meta.get("n_params") or 0),
            size_bytes=int(meta.get("size") or 0),
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
        """Return path and body of a request; nothing that is empty is in it."""
        request: dict[str, Any] = {
            "model": facts.name,
            "messages": plain_messages(body.messages),
            "max_tokens": limit,
            "temperature": body.temperature,
            "top_p": body.top_p,
            "seed": body.seed,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if form:
            request |= self._form(body)
        return "/chat/completions", request

    def _form(self, body: Generate) -> dict[str, Any]:
        if self.by_grammar:
            if not body.grammar:
                return {}
            if self.settings.structured == "guided_grammar":
                return {"guided_grammar": body.grammar}
            # The first is vLLM's, the second llama.cpp's; each ignores the other's.
            return {
                "structured_outputs": {"grammar": body.grammar},
                "grammar": body.grammar,
            }
        schema = schema_of(body)
        if not schema:
            return {}
        named = {"name": "answer", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": named}}

    def read(self, event: dict[str, Any]) -> Piece:
        """Understand one event of the stream."""
        if error := event.get("error"):
            said = error.get("message") if isinstance(error, dict) else error
            raise ProtocolError(
                f"The model server at {self.address} failed while it answered: {said}."
            )
        usage = event.get("usage") or {}
        details = usage.get("prompt_tokens_details") or {}
        choices = event.get("choices") or [{}]
        delta = choices[0].get("delta") or {}
        finish = choices[0].get("finish_reason")
        return Piece(
            text=str(delta.get("content") or ""),
            thought=str(delta.get("reasoning_content") or delta.get("reasoning") or ""),
            generated=usage.get("completion_tokens"),
            prompt=usage.get("prompt_tokens"),
            cached=details.get("cached_tokens"),
            finish=_finish(finish),
        )


def _finish(reason: object) -> FinishReason | None:
    if not reason:
        return None
    return FinishReason.LENGTH if reason == _LENGTH else FinishReason.STOP
