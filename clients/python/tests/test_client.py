"""What the layer on the generated code does, without a server."""

import asyncio
import unittest
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from parley_client import Parley, ParleyError, iterate
from parley_client.client import Effects
from parley_client.errors import read_retry_after
from parley_client.models import Call
from parley_client.retry_plan import Outcome, RetryLimits, plan_retry

LIMITS = RetryLimits(retries=3, max_wait=10)


def plan(outcome: Outcome, attempt: int = 1, random: float = 1, repeatable: bool = True) -> float | None:
    return plan_retry(repeatable, outcome, attempt=attempt, random=random, limits=LIMITS)


class ThePlan(unittest.TestCase):
    def test_repeats_what_was_not_carried_out_and_nothing_else(self) -> None:
        again = [status for status in (None, 200, 400, 404, 409, 422, 429, 500, 502, 503, 504) if plan(Outcome(status))]
        self.assertEqual(again, [None, 429, 502, 503, 504])

    def test_repeats_a_409_that_says_when(self) -> None:
        self.assertEqual(plan(Outcome(409, 1)), 1)

    def test_doubles_the_wait_with_half_of_it_left_to_chance(self) -> None:
        self.assertEqual([plan(Outcome(), attempt) for attempt in (1, 2, 3, 4)], [0.5, 1, 2, None])
        self.assertEqual(plan(Outcome(), random=0), 0.25)

    def test_waits_as_long_as_the_server_asks_and_not_too_long(self) -> None:
        self.assertEqual([plan(Outcome(503, 10)), plan(Outcome(503, 11))], [10, None])

    def test_repeats_no_upload(self) -> None:
        self.assertIsNone(plan(Outcome(429), repeatable=False))


class Scripted:
    """A transport that answers with these, one after the other, and a client on it that doesn't wait."""

    def __init__(self, *outcomes: httpx.Response | Exception) -> None:
        self.outcomes = list(outcomes)
        self.keys: list[str | None] = []
        self.waits: list[float] = []

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        transport = httpx.MockTransport(self.answer)
        effects = Effects(sleep=self.waits.append, sleep_async=sleep, random=lambda: 1)
        self.client = Parley(
            "https://parley.example.com",
            "pk",
            transport=transport,
            async_transport=transport,
            effects=effects,
            retries=2,
        )

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.keys.append(request.headers.get("idempotency-key"))
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def status_of(response: httpx.Response) -> int:
    return response.status_code


POST: dict[str, Any] = {"method": "post", "url": "/v1/calls", "json": {"a": 1}}


class Sending(unittest.TestCase):
    def outcomes(self) -> Scripted:
        busy = httpx.Response(503, headers={"retry-after": "2"})
        return Scripted(httpx.ReadError("reset"), busy, httpx.Response(201))

    def test_repeats_a_post_with_the_same_key(self) -> None:
        scripted = self.outcomes()
        self.assertEqual(scripted.client.send(POST, status_of).data, 201)
        self.assertEqual(scripted.waits, [0.5, 2])
        self.assertEqual(len(scripted.keys), 3)
        self.assertEqual(len({*scripted.keys} - {None}), 1)

    def test_does_so_without_blocking_too(self) -> None:
        scripted = self.outcomes()
        self.assertEqual(asyncio.run(scripted.client.send_async(POST, status_of)).data, 201)
        self.assertEqual(scripted.waits, [0.5, 2])
        self.assertEqual(len({*scripted.keys}), 1)

    def test_takes_the_key_that_it_is_given_and_gives_an_upload_none(self) -> None:
        scripted = Scripted(httpx.Response(201), httpx.ReadError("reset"))
        scripted.client.send({**POST, "headers": {"Idempotency-Key": "order-4711"}}, status_of)
        with self.assertRaises(ParleyError):
            scripted.client.send({"method": "post", "url": "/file", "files": {"file": b"x"}}, status_of)
        self.assertEqual(scripted.keys, ["order-4711", None])

    def test_says_what_to_do_where_nothing_answers(self) -> None:
        scripted = Scripted(*[httpx.ConnectError("refused")] * 3)
        with self.assertRaisesRegex(
            ParleyError, "POST /v1/calls: no answer from https://parley.example.com: check the url"
        ):
            scripted.client.send(POST, status_of)
        late = Scripted(*[httpx.ReadTimeout("late")] * 3)
        with self.assertRaisesRegex(ParleyError, "no answer in time: try again later, or raise timeout"):
            late.client.send(POST, status_of)


class RetryAfter(unittest.TestCase):
    def test_is_seconds_or_a_date(self) -> None:
        values = ("3", "Thu, 01 Jan 1970 00:01:00 GMT", "Thu, 01 Jan 1970 00:00:01 GMT", "soon")
        read = [read_retry_after(httpx.Headers({"retry-after": value}), 10) for value in values]
        self.assertEqual(read, [3, 50, 0, None])


@dataclass
class Page:
    data: list[int]
    next_page_token: str | None


class Lists(unittest.TestCase):
    def test_come_page_after_page(self) -> None:
        def page(page_token: str | None = None) -> Page:
            return Page([3], None) if page_token == "second" else Page([1, 2], "second")

        found: Iterator[int] = iterate(page)
        self.assertEqual(list(found), [1, 2, 3])


class Answers(unittest.TestCase):
    def test_are_read_whatever_value_a_choice_has(self) -> None:
        names = {"_id": "c", "ai_agent_id": "a", "ai_agent_name": "A", "agent_revision": "r"}
        lists: dict[str, Any] = {"messages": [], "turns": [], "tool_calls": []}
        objects: dict[str, Any] = {
            "metadata": {},
            "native_llm_dynamic_data": {},
            "usage": {"items": [], "cost": None, "unpriced": []},
        }
        made = {"created_at": "2026-01-01T00:00:00Z", "call_type": "video_call", "call_status": "held"}
        call = Call.from_dict({**names, **lists, **objects, **made})
        self.assertEqual([call.call_type, call.call_status], ["video_call", "held"])


if __name__ == "__main__":
    unittest.main()
