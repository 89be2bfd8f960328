"""Walks through 30 operations and more with `parley-client`; prints what came as one JSON object."""

import asyncio
import json
import os

from parley_client import Parley, ParleyError, iterate, iterate_async
from parley_client.api.agent_tests import list_agent_tests
from parley_client.api.ai_agents import (
    create_agent,
    delete_agent,
    get_agent,
    list_agents,
    update_agent,
)
from parley_client.api.api_keys import create_api_key, get_api_key, list_api_keys, revoke_api_key
from parley_client.api.calls import create_web_call, end_call, get_call, get_usage, list_calls, sign_recording_url
from parley_client.api.knowledge_bases import (
    create_knowledge_base,
    delete_knowledge_base,
    get_knowledge_base,
    list_knowledge_bases,
    update_knowledge_base,
)
from parley_client.api.operations import get_health
from parley_client.api.phone_numbers import (
    create_phone_number,
    delete_phone_number,
    list_phone_numbers,
    update_phone_number,
)
from parley_client.api.test_runs import list_test_runs
from parley_client.api.tools import create_builtin_tool, create_custom_tool, list_builtin_tools, list_custom_tools
from parley_client.api.webhooks import (
    create_webhook_subscription,
    delete_webhook_subscription,
    get_webhook_subscription,
    list_webhook_deliveries,
    list_webhook_event_types,
    list_webhook_subscriptions,
    rotate_webhook_secret,
    update_webhook_subscription,
)
from parley_client.client import Effects
from parley_client.models import (
    AgentCreate,
    AgentUpdate,
    ApiKeyCreate,
    CallMetadataCreate,
    CustomToolApiCreate,
    CustomToolCreate,
    CustomToolInfoCreate,
    FunctionToolCreate,
    KnowledgeBaseCreate,
    KnowledgeBaseUpdate,
    LanguageModelCreate,
    LanguageModelUpdate,
    RecordingRequest,
    SipPhoneNumber,
    SipPhoneNumberCreate,
    SipPhoneNumberUpdate,
    SpeechToTextCreate,
    TextToSpeechCreate,
    TransferCallToolCreate,
    WebCallCreate,
    WebhookSubscriptionCreate,
    WebhookSubscriptionUpdate,
)


async def at_once(_: float) -> None:
    """What was lost may be asked for again at once."""


parley = Parley(
    os.environ["PARLEY_URL"], os.environ["PARLEY_API_KEY"], effects=Effects(sleep=lambda _: None, sleep_async=at_once)
)
came: dict[str, object] = {}

agent = create_agent.sync(
    client=parley,
    body=AgentCreate(
        agent_name="Python",
        llm=LanguageModelCreate(model_name="gpt-4o-mini"),
        stt=SpeechToTextCreate(provider="deepgram"),
        tts=TextToSpeechCreate(provider="elevenlabs"),
        ambient_sound="cafe",
    ),
)
read = get_agent.sync_detailed(agent.ai_agent_id, client=parley)
changed = update_agent.sync(
    agent.ai_agent_id,
    client=parley,
    body=AgentUpdate(llm=LanguageModelUpdate(model_temperature=0.5), welcome_message=None),
    if_match=read.headers["etag"],
)
came["agent"] = [agent.ambient_sound, read.data.agent_name, changed.llm.model_temperature]
came["agents"] = [found.agent_name for found in list_agents.sync(client=parley).data]
tool = create_custom_tool.sync(
    agent.ai_agent_id,
    client=parley,
    body=CustomToolCreate(
        function_tool=FunctionToolCreate(name="find_order"),
        additional_tool_info=CustomToolInfoCreate(api=CustomToolApiCreate(endpoint="https://api.example.com/orders")),
    ),
)
create_builtin_tool.sync(
    agent.ai_agent_id, client=parley, body=TransferCallToolCreate(tool_name="transfer_call", transfer_to="+15550100")
)
came["tools"] = [
    *[found.function_tool.name for found in list_custom_tools.sync(agent.ai_agent_id, client=parley).data],
    *[found.tool_name for found in list_builtin_tools.sync(agent.ai_agent_id, client=parley).data],
]
try:
    update_agent.sync(agent.ai_agent_id, client=parley, body=AgentUpdate(max_call_duration_seconds=0, agent_name=""))
except ParleyError as error:
    came["refused"] = [error.status, error.code, sorted(problem.field for problem in error.fields)]
delete_agent.sync(agent.ai_agent_id, client=parley)
try:
    get_agent.sync(agent.ai_agent_id, client=parley)
except ParleyError as error:
    came["missing"] = [error.status, error.code, error.trace_id is not None]

number = create_phone_number.sync(client=parley, body=SipPhoneNumberCreate(phone_number="+4930555012345"))
assert isinstance(number, SipPhoneNumber)
update_phone_number.sync(number.field_id, client=parley, body=SipPhoneNumberUpdate(friendly_name="Desk"))
came["numbers"] = [[found.provider, found.friendly_name] for found in list_phone_numbers.sync(client=parley).data]
delete_phone_number.sync(number.field_id, client=parley)

key = create_api_key.sync(client=parley, body=ApiKeyCreate(name="python", permissions=["agents:read"]))
came["keys"] = "python" in [found.name for found in list_api_keys.sync(client=parley).data]
came["revoked"] = [
    get_api_key.sync(key.key_id, client=parley).revoked,
    revoke_api_key.sync(key.key_id, client=parley).revoked,
]

names = [f"Page {index}" for index in range(7)]
bases = [create_knowledge_base.sync(client=parley, body=KnowledgeBaseCreate(name=name)) for name in names]
came["pages"] = [base.name for base in iterate(list_knowledge_bases.sync, client=parley, page_size=3)] == names
update_knowledge_base.sync(bases[0].id, client=parley, body=KnowledgeBaseUpdate(description="Of devices"))
came["description"] = get_knowledge_base.sync(bases[0].id, client=parley).description
for base in bases:
    delete_knowledge_base.sync(base.id, client=parley)

subscription = create_webhook_subscription.sync(
    client=parley,
    body=WebhookSubscriptionCreate(name="Python", url="https://hooks.example.com", enable_signed_webhooks=True),
)
update_webhook_subscription.sync(subscription.id, client=parley, body=WebhookSubscriptionUpdate(active=False))
came["subscription"] = [
    get_webhook_subscription.sync(subscription.id, client=parley).active,
    rotate_webhook_secret.sync(subscription.id, client=parley).secret != subscription.secret,
    len(list_webhook_subscriptions.sync(client=parley, page_size=10).data),
    len(list_webhook_deliveries.sync(subscription.id, client=parley).data),
    "Webhook.Test" in [found.name for found in list_webhook_event_types.sync(client=parley).data],
]
delete_webhook_subscription.sync(subscription.id, client=parley)


async def make_calls(count: int) -> list[str]:
    """Half of them without blocking, and half as a program that waits."""
    async with Parley(
        os.environ["PARLEY_URL"], os.environ["PARLEY_API_KEY"], effects=Effects(sleep_async=at_once)
    ) as client:
        made = [
            await create_web_call.asyncio(client=client, body=WebCallCreate(ai_agent_id="receptionist"))
            for _ in range(count // 2)
        ]
        made += [
            create_web_call.sync(client=parley, body=WebCallCreate(ai_agent_id="receptionist"))
            for _ in range(count // 2)
        ]
        found = [call.field_id async for call in iterate_async(list_calls.asyncio, client=client)]
    assert sorted(call.field_id for call in made) == sorted(found)
    return found


made = asyncio.run(make_calls(30))
came["calls"] = len(made)
metadata = CallMetadataCreate()
metadata["ticket"] = 4711
call = create_web_call.sync(client=parley, body=WebCallCreate(ai_agent_id="receptionist", metadata=metadata))
came["call"] = [call.call_status, get_call.sync(call.field_id, client=parley).metadata.to_dict()]
try:
    sign_recording_url.sync(client=parley, body=RecordingRequest(call_id=call.field_id))
except ParleyError as error:
    came["recording"] = error.code
end_call.sync(call.field_id, client=parley)
came["usage"] = len(get_usage.sync(client=parley).data)
came["tests"] = [len(list_agent_tests.sync(client=parley).data), len(list_test_runs.sync(client=parley).data)]
came["health"] = get_health.sync(client=parley)
print(json.dumps(came))
