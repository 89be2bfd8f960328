"""The bodies of the routes of tools, phone numbers and knowledge bases, as a FastAPI service would declare them.

The zod schemas in api/tools, api/phone-numbers and api/knowledge-bases are read as these are. Where there are variants, fields that none of them has are
ignored there and refused here: the cases have none.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


def text(most: int, least: int | None = None, pattern: str | None = None):
    return Annotated[str, Field(max_length=most, min_length=least, pattern=pattern)]


class Messages(BaseModel):
    tool_start_message: text(1000) | None = None
    tool_delayed_message: text(1000) | None = None
    tool_complete_message: text(1000) | None = None
    tool_failed_message: text(1000) | None = None


class Param(BaseModel):
    description: text(1500) | None = None
    value: Any = None


class RuntimeParam(Param):
    type: Literal["string", "number", "integer", "boolean", "object", "array"] | None = None
    required: bool | None = None


Params = Annotated[dict[text(128), Param], Field(max_length=64)]
RuntimeParams = Annotated[dict[text(128), RuntimeParam], Field(max_length=64)]
Free = Annotated[dict[str, Any], Field(max_length=64)]
Headers = Annotated[
    dict[text(256, 1, pattern=r"^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$"), text(4096, pattern=r"^[\t\x20-\x7e\x80-\xff]*$")],
    Field(max_length=32),
]
FunctionName = text(64, pattern=r"^[a-zA-Z0-9_-]{1,64}$")
Endpoint = text(2048, pattern=r"^https?://.+")
ObjectName = text(253, 1)


class FunctionTool(BaseModel):
    name: FunctionName
    description: text(4096) | None = None
    parameters: Free | None = None


class FunctionToolUpdate(BaseModel):
    name: FunctionName = ""
    description: text(4096) | None = None
    parameters: Free | None = None


class Parameters(BaseModel):
    fixed_params: Params | None = None
    runtime_params: RuntimeParams | None = None


Method = Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]


class Api(BaseModel):
    endpoint: Endpoint
    headers: Headers | None = None
    method: Method | None = None
    parameters: Parameters | None = None


class ApiUpdate(BaseModel):
    endpoint: Endpoint = ""
    headers: Headers | None = None
    method: Method | None = None
    parameters: Parameters | None = None


class Info(BaseModel):
    tool_type: Literal["custom"] | None = None
    api: Api


class InfoUpdate(BaseModel):
    tool_type: Literal["custom"] | None = None
    api: ApiUpdate = ApiUpdate()


class CustomTool(Messages):
    tool_id: ObjectName | None = None
    function_tool: FunctionTool
    additional_tool_info: Info


class CustomToolUpdate(Messages):
    tool_id: ObjectName | None = None
    function_tool: FunctionToolUpdate = FunctionToolUpdate()
    additional_tool_info: InfoUpdate = InfoUpdate()


class Builtin(Messages):
    model_config = ConfigDict(extra="forbid")
    tool_id: ObjectName | None = None
    tool_description: text(1500) | None = None


Email = text(320, 1, pattern=r"^[^\s@]+@[^\s@]+$")
Secret = text(4096, 1)
Target = text(512, pattern=r"^(\+[1-9][0-9]{1,14}|sips?:.+)$")
EventType = Annotated[int, Field(ge=1, le=2_147_483_647)] | Annotated[str, Field(min_length=1, max_length=64)]


class SendEmail(Builtin):
    tool_name: Literal["send_email"]
    from_email: Email
    app_password: Secret


class SendEmailUpdate(Builtin):
    tool_name: Literal["send_email"]
    from_email: Email = ""
    app_password: Secret = ""


class TransferCallUpdate(Builtin):
    tool_name: Literal["transfer_call"]
    transfer_to: Target = ""
    transfer_type: Literal["cold_transfer", "warm_transfer"] | None = None
    display_phone_number: bool | None = None


class TransferCall(TransferCallUpdate):
    transfer_to: Target


class BookCalendarUpdate(Builtin):
    tool_name: Literal["book_calendar"]
    event_type_id: EventType = 1
    cal_api_key: Secret = ""
    timezone: text(64) | None = None


class BookCalendar(BookCalendarUpdate):
    event_type_id: EventType
    cal_api_key: Secret


class CheckCalendarUpdate(Builtin):
    tool_name: Literal["check_calendar_availability"]
    event_type_id: EventType = 1
    cal_api_key: Secret = ""
    timezone: text(64) | None = None


class CheckCalendar(CheckCalendarUpdate):
    event_type_id: EventType
    cal_api_key: Secret


PhoneNumber = text(16, pattern=r"^\+[1-9]\d{1,14}$")


class Numbered(BaseModel):
    model_config = ConfigDict(extra="forbid")
    phone_number: PhoneNumber
    friendly_name: text(200) | None = None
    inbound_agent_id: ObjectName | None = None
    outbound_agent_id: ObjectName | None = None


class NumberUpdate(Numbered):
    phone_number: PhoneNumber = ""


Region = Literal["global", "bd", "bd_link3"]


class SipNumber(Numbered):
    provider: Literal["sip"] = "sip"
    sip_termination_uri: text(512) | None = None
    sip_trunk_username: text(256) | None = None
    sip_trunk_password: Secret | None = None
    sip_infra_region: Region | None = None


class NativeNumber(Numbered):
    provider: Literal["native"]


class CarrierNumber(Numbered):
    provider: Literal["carrier"]
    carrier_account_sid: text(256, 1)
    carrier_auth_token: Secret


class SipUpdate(NumberUpdate):
    provider: Literal["sip"] = "sip"
    sip_termination_uri: text(512) | None = None
    sip_trunk_username: text(256) | None = None
    sip_trunk_password: Secret | None = None
    sip_infra_region: Region = "global"


class NativeUpdate(NumberUpdate):
    provider: Literal["native"] = "native"


class CarrierUpdate(NumberUpdate):
    provider: Literal["carrier"] = "carrier"
    carrier_account_sid: text(256, 1) | None = None
    carrier_auth_token: Secret | None = None


Description = text(1500)
Language = text(35, pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$")


class KnowledgeBaseCreate(BaseModel):
    name: text(200, 1)
    description: Description | None = None
    document_language: Language | None = None


class KnowledgeBaseUpdate(BaseModel):
    name: text(200, 1) = ""
    description: Description | None = None
    document_language: Language | None = None


class WebsiteSubmission(BaseModel):
    page_urls: Annotated[list[text(2048, pattern=r"^https?://")], Field(min_length=1, max_length=100)]


class SearchRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")
    query: text(2000, 1)
    knowledge_base_id: str
    top_k: Annotated[int, Field(ge=1, le=100)] = 5
    filter: dict[str, Any] | None = None


MODELS = {
    "customTool": CustomTool,
    "customToolUpdate": CustomToolUpdate,
    "builtinTool": Annotated[SendEmail | TransferCall | BookCalendar | CheckCalendar, Field(discriminator="tool_name")],
    "sendEmailUpdate": SendEmailUpdate,
    "transferCallUpdate": TransferCallUpdate,
    "bookCalendarUpdate": BookCalendarUpdate,
    "checkCalendarAvailabilityUpdate": CheckCalendarUpdate,
    "phoneNumber": Annotated[SipNumber | NativeNumber | CarrierNumber, Field(discriminator="provider")],
    "sipUpdate": SipUpdate,
    "nativeUpdate": NativeUpdate,
    "carrierUpdate": CarrierUpdate,
    "knowledgeBase": KnowledgeBaseCreate,
    "knowledgeBaseUpdate": KnowledgeBaseUpdate,
    "website": WebsiteSubmission,
    "search": SearchRequest,
}
