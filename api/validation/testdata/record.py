"""Records what FastAPI and pydantic answer, for pydantic.test.ts: python record.py > pydantic.json

With --answer it answers the cases on its standard input instead: [{"schema", "body", "query"?}].

Needs `pip install pydantic fastapi httpx`. The models here are the zod schemas of the test, in Python's words.
"""

import json
import sys
from typing import Annotated, Any, Literal

import fastapi
import pydantic
from fastapi import Body, FastAPI, Query
from fastapi.testclient import TestClient
from pydantic import BaseModel, ConfigDict, Field

import route_models


class Child(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=3)]
    count: int


class Model(BaseModel):
    text: str | None = None
    short: Annotated[str | None, Field(min_length=2, max_length=4)] = None
    one: Annotated[str | None, Field(min_length=1, max_length=1)] = None
    url: Annotated[str | None, Field(pattern=r"^https?://.+")] = None
    integer: Annotated[int | None, Field(ge=0, le=5)] = None
    number: Annotated[float | None, Field(ge=0, le=1.5)] = None
    above: Annotated[float | None, Field(gt=0.5, lt=2)] = None
    flag: bool | None = None
    sound: Literal["office", "cafe", "none"] | None = None
    single: Literal["simple"] | None = None
    names: Annotated[list[Annotated[str, Field(max_length=3)]] | None, Field(max_length=2)] = None
    some: Annotated[list[int] | None, Field(min_length=1)] = None
    headers: Annotated[dict[str, str] | None, Field(max_length=2)] = None
    keys: dict[Annotated[str, Field(pattern=r"^[a-z]+$")], str] | None = None
    free: dict[str, Any] | None = None
    child: Child | None = None
    children: list[Child] | None = None
    either: int | str | None = None


class Required(BaseModel):
    a: str
    b: int
    c: Child


class Mail(BaseModel):
    tool_name: Literal["mail"]
    sender: Annotated[str, Field(pattern=r"^\S+@\S+$")]
    password: str


class Calendar(BaseModel):
    tool_name: Literal["calendar"]
    event: Annotated[int, Field(ge=1, le=9)] | Annotated[str, Field(min_length=1, max_length=3)]
    zone: str | None = None


Tool = Annotated[Mail | Calendar, Field(discriminator="tool_name")]


class MailUpdate(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tool_name: Literal["mail"]
    sender: str | None = None


app = FastAPI()


@app.post("/model")
def model(body: Model):
    return body.model_dump(exclude_unset=True)


@app.post("/required")
def required(body: Required):
    return body.model_dump(exclude_unset=True)


@app.post("/tagged")
def tagged(body: Tool):
    return body.model_dump(exclude_unset=True)


@app.post("/strict")
def strict(body: MailUpdate):
    return body.model_dump(exclude_unset=True)


for name, route_model in route_models.MODELS.items():

    def of_route(body: route_model):
        return body.model_dump(exclude_unset=True)

    app.post("/" + name)(of_route)


@app.post("/everything")
def everything(
    body: Required,
    page_size: Annotated[int, Query(ge=1, le=100)] = 20,
    dry_run: bool = False,
):
    return body.model_dump(exclude_unset=True)


def texts(**fields: list[Any]):
    return [json.dumps({field: value}) for field, values in fields.items() for value in values]


CASES = {
    "/model": texts(
        text=["", "a", "\u00e9\U0001f600", 1, 1.5, True, [], {}, None],
        short=["a", "ab", "abcd", "abcde", "\U0001f600", "\U0001f600" * 4, "\U0001f600" * 5, 5],
        one=["", "ab"],
        url=["http://x", "ftp://x", "https://", ""],
        integer=[0, 5, -1, 6, 1.0, 1.5, "5", " 5 ", "5.0", "5.5", "1_0", "+1", "-1", "abc", "", True, False, [], {}, 1e20, "1e1", "0x1", "3.", ".5", "1__0"],
        number=[0, 1.5, 1.6, -0.1, 1, "1", "1.5", " 1 ", "1e0", "abc", "", True, [], {}, "nan", "inf", "-inf", "1_0", ".5", "1.", "Infinity", "-1"],
        above=[0.5, 0.6, 2, 1.9, 0],
        flag=[True, False, "true", "TRUE", "yes", "on", "t", "y", "1", "0", "no", "off", "f", "n", "maybe", "", " true", 1, 0, 2, 1.0, 0.0, 0.5, [], {}],
        sound=["cafe", "Cafe", "", 1, None, []],
        single=["simple", "other"],
        names=[[], ["a"], ["a", "b", "c"], ["abcd"], ["abcd", 1], ["abcd", "b", "c"], "a", {}, 5, [None], ["a"] * 10000],
        some=[[], [1], ["x", 1.5]],
        headers=[{}, {"a": "b"}, {"a": 1}, {"a": "1", "b": "2", "c": "3"}, [], "x", {"a": None, "b": []}],
        keys=[{"a": "b"}, {"A": "b"}, {"A": 1, "B": 2}],
        free=[{}, {"a": [1, {"b": None}]}, [], "x"],
        child=[{"name": "a", "count": 1}, {}, {"name": "", "count": "x"}, {"name": "abcd"}, [], "x", 5, None, {"name": "a", "count": 1, "more": 2}],
        children=[[], [{}], [{"name": "a", "count": 1}, {"name": 1, "count": []}, "x"]],
        either=[1, "1", "a", [], 1.5],
    )
    + ["{}", '{"unknown": 1}', '{"text": 1, "integer": "x", "flag": 2, "children": [{}]}'],
    "/required": [
        "{}",
        '{"a": null, "b": null, "c": null}',
        '{"a": "x"}',
        '{"a": "x", "b": 1, "c": {"name": "a"}}',
        "[]",
        '"x"',
        "5",
        "true",
        "null",
        "",
    ],
    "/tagged": [
        "{}", "[]", '"x"', "null", "5", '{"sender": "a@b"}', '{"tool_name": "mail", "sender": "a@b", "password": "p"}', '{"tool_name": "mail"}',
        '{"tool_name": "Mail"}', '{"tool_name": ""}', '{"tool_name": null}', '{"tool_name": 5}', '{"tool_name": true}', '{"tool_name": 1.5}', '{"tool_name": []}', '{"tool_name": {}}',
        '{"tool_name": ["x", 1, null, {"a": false}]}', '{"tool_name": ["it\'s", "\\"", "\\"it\'s", "a\\nb\\\\", "\\u00a0\\u200b\u00e9", {"k\'": 1}]}',
        '{"tool_name": [0.00001, 0.0001, 1e-7, 1.5, 9223372036854775809, -9223372036854775809]}', '{"tool_name": "it\'s"}', '{"tool_name": "mail", "sender": "x", "password": 1}',
        '{"tool_name": "calendar", "event": 5}', '{"tool_name": "calendar", "event": "5"}', '{"tool_name": "calendar", "event": 0}',
        '{"tool_name": "calendar", "event": "long"}', '{"tool_name": "calendar", "event": []}', '{"tool_name": "calendar", "event": null, "zone": 1}',
        '{"tool_name": "calendar", "event": 1.0}', '{"tool_name": "calendar", "event": true}', '{"tool_name": "calendar", "event": ""}',
    ],
    "/strict": [
        "{}", '{"tool_name": "mail"}', '{"tool_name": "calendar"}', '{"tool_name": "mail", "event": 1}', '{"event": null, "zone": "x", "sender": 5}',
        '{"zone": 1, "tool_name": "calendar", "event": 1}', '{"tool_name": null, "sender": null}',
    ],
    "/json": [
        "{", "}", "{a}", '{"a"}', '{"a":}', '{"a": 1', '{"a": 1,}', '{"a": 1 "b": 2}', "{'a': 1}", "[1,]", "[1 2]", "[", "nul", "tru", "1 2", '{"a": 1} x',
        '{"a": "x', '{"a": "x\ny"}', '{"a": "\\x"}', '{"a": "\\u12"}', '{"a": "\\u12zz"}', '{"a": "\\u123', "01", "-", "1.", "1.e5", "+1", ".5",
        '{"\u00e9\U0001f600": x}', '  {"a":\n\n bad}', "'", "\t", '{"a": "\\', '{"a": "\\"', "[1, 2, {", '{"a": [1, 2}', "--1", '{"a": 1, "b"', "{,}", "[,]", "\ufeff{}",
    ],
}

client = TestClient(app, raise_server_exceptions=False)


def plain(detail):
    return [{"type": d["type"], "loc": d["loc"], "msg": d["msg"]} for d in detail]


def ask(path, text, query=""):
    route = "/required" if path == "/json" else path
    answer = client.post(route + query, content=text.encode(), headers={"content-type": "application/json"})
    if answer.status_code == 422:
        return {"detail": plain(answer.json()["detail"])}
    if answer.status_code == 200:
        return {"value": answer.json()}
    raise RuntimeError(f"{path} {text!r}: {answer.status_code} {answer.text}")


def answer(case):
    """Everything but the text of the case comes from the request itself."""
    path = "/" + case["schema"]
    return {**case, **ask(path, case["body"], "?" + case["query"] if "query" in case else "")}


if "--answer" in sys.argv:
    json.dump([answer(case) for case in json.load(sys.stdin)], sys.stdout)
    sys.exit()

recorded = [{"schema": path.strip("/"), "body": text, **ask(path, text)} for path, bodies in CASES.items() for text in bodies]
recorded += [
    {"schema": "everything", "query": query, "body": body, **ask("/everything", body, "?" + query)}
    for query in ["page_size=0&dry_run=maybe", "page_size=101", "page_size=x", "page_size=1.5", "page_size=5&page_size=7", "dry_run=1", "page_size=", "page_size=%205"]
    for body in ["{}", '{"a": "x", "b": 1, "c": {"name": "a", "count": 1}}', "{"]
]
versions = {"python": sys.version.split()[0], "pydantic": pydantic.VERSION, "fastapi": fastapi.__version__}
json.dump({"versions": versions, "cases": recorded}, sys.stdout, indent=1)
print()
