"""Whether a request is sent again, and when. Pure."""

from dataclasses import dataclass

_FIRST_WAIT = 0.5
_AGAIN = frozenset({502, 503, 504})
"""Answers of a server or proxy that has not carried the request out, or not wholly."""


@dataclass(frozen=True)
class RetryLimits:
    """How often and how long."""

    retries: int
    """Attempts in addition to the first one."""
    max_wait: float
    """The longest wait before an attempt, in seconds. A server that asks for more gets no other attempt."""


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended: with an answer, or without one."""

    status: int | None = None
    retry_after: float | None = None
    """As the server asks, in seconds."""


def plan_retry(repeatable: bool, outcome: Outcome, *, attempt: int, random: float, limits: RetryLimits) -> float | None:
    """How long to wait in seconds, or None to give up.

    ``repeatable``: whether nothing is made twice when the request is carried out twice. ``attempt``: how many there
    have been, at least 1. ``random``: between 0 and 1.
    """
    if attempt > limits.retries or not repeatable or not _may_repeat(outcome):
        return None
    if outcome.retry_after is not None:
        return outcome.retry_after if outcome.retry_after <= limits.max_wait else None
    # Clients that were cut off together don't come back together.
    return float(min(limits.max_wait, _FIRST_WAIT * 2 ** (attempt - 1)) * (0.5 + random / 2))


def _may_repeat(outcome: Outcome) -> bool:
    # A 409 with Retry-After: the first request with this Idempotency-Key is still being carried out.
    in_progress = outcome.status == 409 and outcome.retry_after is not None
    return outcome.status is None or outcome.status == 429 or outcome.status in _AGAIN or in_progress
