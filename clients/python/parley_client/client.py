"""The connection to an API: it authenticates, waits for no answer for ever, and sends a request again where that is safe."""

import asyncio
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import httpx

from .errors import read_retry_after, unanswered
from .retry_plan import Outcome, RetryLimits, plan_retry

T = TypeVar("T")


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What an operation answers, with status and headers: ``ETag``, ``Idempotency-Replayed``, ``Warning``."""

    status: HTTPStatus
    headers: httpx.Headers
    data: T


@dataclass(frozen=True)
class Effects:
    """What a client does beside sending; tests pass their own."""

    sleep: Callable[[float], None] = time.sleep
    sleep_async: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random


class Parley:
    """Where the API is, and the key to it. One client serves any number of threads, or one event loop.

    ``timeout`` holds for each attempt, in seconds. ``transport`` and ``async_transport`` are httpx's, for proxies and
    certificates of your own.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        retries: int = 4,
        timeout: float = 60.0,
        max_wait: float = 30.0,
        transport: httpx.BaseTransport | None = None,
        async_transport: httpx.AsyncBaseTransport | None = None,
        effects: Effects | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {api_key}"}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout, transport=transport)
        self._http_async = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout, transport=async_transport)
        self._limits = RetryLimits(retries=retries, max_wait=max_wait)
        self._effects = effects or Effects()

    def send(self, kwargs: dict[str, Any], parse: Callable[[httpx.Response], T]) -> Answer[T]:
        """For the functions of ``parley_client.api``. Raises ParleyError."""
        request = self._http.build_request(**_with_idempotency_key(kwargs))
        attempt = 1
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = self._http.send(request)
            except httpx.TransportError as error:
                outcome = error
            wait = self._plan(kwargs, outcome, attempt)
            if wait is None:
                return _answer(request, outcome, parse)
            self._effects.sleep(wait)
            attempt += 1

    async def send_async(self, kwargs: dict[str, Any], parse: Callable[[httpx.Response], T]) -> Answer[T]:
        """For the functions of ``parley_client.api``. Raises ParleyError."""
        request = self._http_async.build_request(**_with_idempotency_key(kwargs))
        attempt = 1
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = await self._http_async.send(request)
            except httpx.TransportError as error:
                outcome = error
            wait = self._plan(kwargs, outcome, attempt)
            if wait is None:
                return _answer(request, outcome, parse)
            await self._effects.sleep_async(wait)
            attempt += 1

    def _plan(
        self, kwargs: dict[str, Any], outcome: httpx.Response | httpx.TransportError, attempt: int
    ) -> float | None:
        known = Outcome()
        if isinstance(outcome, httpx.Response):
            known = Outcome(outcome.status_code, read_retry_after(outcome.headers, time.time()))
        return plan_retry(
            not _is_upload(kwargs), known, attempt=attempt, random=self._effects.random(), limits=self._limits
        )

    def close(self) -> None:
        """Ends the connections of the functions that wait for their answer."""
        self._http.close()

    async def aclose(self) -> None:
        """Ends all connections."""
        self._http.close()
        await self._http_async.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _answer(
    request: httpx.Request, outcome: httpx.Response | httpx.TransportError, parse: Callable[[httpx.Response], T]
) -> Answer[T]:
    if isinstance(outcome, httpx.TransportError):
        raise unanswered(request, outcome) from outcome
    return Answer(HTTPStatus(outcome.status_code), outcome.headers, parse(outcome))


def _is_upload(kwargs: dict[str, Any]) -> bool:
    """A file is read while it is sent: it can't be sent again, and its entries have keys of their own."""
    return "files" in kwargs or "content" in kwargs


def _with_idempotency_key(kwargs: dict[str, Any]) -> dict[str, Any]:
    """A POST that makes something gets a key, so that it can be sent again."""
    headers = kwargs.get("headers", {})
    if kwargs["method"] != "post" or _is_upload(kwargs) or "Idempotency-Key" in headers:
        return kwargs
    return {**kwargs, "headers": {**headers, "Idempotency-Key": str(uuid.uuid4())}}
