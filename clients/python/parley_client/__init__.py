"""Client of the Parley API.

Operations are functions of ``parley_client.api``, grouped as in the API's documentation:
``from parley_client.api.ai_agents import create_agent``. Bodies and answers are classes of ``parley_client.models``.
"""

from .client import Answer, Parley
from .errors import FieldProblem, ParleyError
from .pagination import iterate, iterate_async
from .webhooks import WebhookEvent, WebhookVerificationError, verify_webhook

__all__ = [
    "Answer",
    "FieldProblem",
    "Parley",
    "ParleyError",
    "WebhookEvent",
    "WebhookVerificationError",
    "iterate",
    "iterate_async",
    "verify_webhook",
]
