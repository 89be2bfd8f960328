"""What a request failed with, in one shape for all groups of the API."""

import email.utils
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx


@dataclass(frozen=True)
class FieldProblem:
    """A field of a request that can't be used."""

    field: str
    """Where it is, without the part of the request: ``llm.model_name``, ``page_size``."""
    message: str
    """What is wrong with it."""


class ParleyError(Exception):
    """A request that was refused, has failed or got no answer. Retries, where they are safe, have been made."""

    status: int | None
    """Of the answer; None where there was none."""
    code: str
    """The answer's own (``not_found``, ``CONFLICT``), ``validation_failed`` for a 422, or ``no_answer`` and ``timeout``."""
    cure: str
    """What to do."""
    fields: Sequence[FieldProblem]
    """Of a 422: everything that is wrong."""
    trace_id: str | None
    """Leads to the line in the server's log."""
    retry_after: float | None
    """How long the server asks to wait, in seconds."""
    body: Any
    """The answer's body: JSON that is parsed, or text."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        cure: str,
        status: int | None = None,
        fields: Sequence[FieldProblem] = (),
        trace_id: str | None = None,
        retry_after: float | None = None,
        body: Any = None,
    ) -> None:
        super().__init__(f"{message}: {cure}")
        self.status = status
        self.code = code
        self.cure = cure
        self.fields = fields
        self.trace_id = trace_id
        self.retry_after = retry_after
        self.body = body


_CURES = {
    401: "pass an API key that is valid",
    403: "use an API key that has the permission",
    404: "check the id, and that the API key is of the same organisation",
    409: "read the object, change what conflicts, and send it again",
    412: "read the object again and send the ETag that it has now",
    422: "change the fields that are named",
    429: "send fewer requests at once, or later",
}
_SERVER_CURE = "try again later; the trace id leads to the cause in the server's log"


def failure_of(response: httpx.Response) -> ParleyError:
    """What an answer that is no success says."""
    status = response.status_code
    body = _body_of(response)
    said = body if isinstance(body, dict) else {}
    detail = said.get("detail")
    fields = [_field_problem(each) for each in detail] if isinstance(detail, list) else []
    wrong = "; ".join(f"{each.field}: {each.message}" for each in fields)
    message = _first_text(said.get("message"), wrong, f"HTTP {status}")
    return ParleyError(
        f"{response.request.method} {response.request.url.path}: {message}",
        status=status,
        code=_first_text(
            said.get("error"), said.get("type"), "validation_failed" if status == 422 else f"http_{status}"
        ),
        cure=_CURES.get(status, _SERVER_CURE if status >= 500 else "change the request"),
        fields=fields,
        trace_id=response.headers.get("x-trace-id"),
        retry_after=read_retry_after(response.headers, time.time()),
        body=body,
    )


def unanswered(request: httpx.Request, error: httpx.TransportError) -> ParleyError:
    """What a request failed with that got no answer."""
    asked = f"{request.method} {request.url.path}"
    if isinstance(error, httpx.TimeoutException):
        return ParleyError(f"{asked}: no answer in time", code="timeout", cure="try again later, or raise timeout")
    where = f"{request.url.scheme}://{request.url.netloc.decode()}"
    return ParleyError(
        f"{asked}: no answer from {where}",
        code="no_answer",
        cure="check the url of the client, and that the API can be reached from here",
    )


def read_retry_after(headers: httpx.Headers, now: float) -> float | None:
    """``Retry-After`` in seconds, as a number or a date; ``now`` is in seconds since the Unix epoch."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except ValueError:
        return None


def _body_of(response: httpx.Response) -> Any:
    try:
        return response.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        return response.text


def _field_problem(detail: dict[str, Any]) -> FieldProblem:
    part, *path = [str(each) for each in detail.get("loc", [])] or [""]
    return FieldProblem(".".join(path) if path else part, str(detail.get("msg", "")))


def _first_text(*values: Any) -> str:
    return next(value for value in values if isinstance(value, str) and value)
