"""Deliveries of webhooks: whether they come from Parley, and what they say."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

__all__ = ["WebhookEvent", "WebhookVerificationError", "verify_webhook"]


@dataclass(frozen=True)
class WebhookEvent:
    """The envelope of every event. Events come more than once: drop a `trace_id` that was seen."""

    organization_id: str
    trace_id: str
    """The id of the event, ``evt_…``; the same in the header ``webhook-id``."""
    event_name: str
    """``CallHandler.CallEnded``, for instance; new ones may be added."""
    timestamp: float
    """When it happened, in seconds since 1970."""
    payload: dict[str, Any]


def verify_webhook(body: bytes | str, headers: Mapping[str, str], secret: str) -> WebhookEvent:
    """What a delivery says.

    ``body``: as it came; JSON that was parsed and written again has other bytes, and another signature.
    ``secret``: of the subscription, ``whsec_…``.
    Raises WebhookVerificationError when the signature is not of this secret, or the delivery is older than five
    minutes: answer 400.
    """
    event = Webhook(secret).verify(body, dict(headers))
    return WebhookEvent(
        organization_id=event["organizationId"],
        trace_id=event["traceId"],
        event_name=event["eventName"],
        timestamp=event["timestamp"],
        payload=event["payload"],
    )
