"""Has sentences spoken over a provider's WebSocket with its own client, as an application of its users would.

Arguments: provider, the address to use, the settings as JSON, and the sentences as JSON. Prints the sound of each as one JSON list.
"""

import base64
import json
import sys
import uuid

KEY = "a-key"


def cartesia(url, settings, sentences):
    from cartesia import Cartesia

    sounds = []
    with Cartesia(api_key=KEY, base_url=url, websocket_base_url=url.replace("http", "ws")).tts.websocket_connect() as connection:
        context = connection.context(**settings)
        # It reads a context to its end: all is asked for first, and the flushes tell whose sound it is.
        for sentence in sentences:
            context.push(f"{sentence} ")
            context.push("", flush=True)
            sounds.append(b"")
        context.no_more_inputs()
        for event in context.receive():
            # The client takes whatever comes; this fails where a field is missing.
            type(event).model_validate(event.model_dump())
            if event.type == "error":
                sys.exit(event.message)
            if event.type == "chunk":
                sounds[event.flush_id] += event.audio
    return sounds


def elevenlabs(url, settings, sentences):
    """Its client has no method for this API, and the types of its messages: they are sent as they are, and what comes must be one of them."""
    from elevenlabs import CloseContext, InitializeConnectionMulti, RealtimeVoiceSettings, SendTextMulti, WebsocketTtsServerMessageMulti
    from elevenlabs.core.jsonable_encoder import jsonable_encoder
    from elevenlabs.core.unchecked_base_model import construct_type
    from elevenlabs.url_utils import build_ws_url
    from websockets.sync.client import connect

    address = build_ws_url(url.replace("http", "ws"), ["v1", "text-to-speech", settings["voice"], "multi-stream-input"], settings["query"])
    context = str(uuid.uuid4())
    sounds = [b"" for _ in sentences]
    with connect(address, additional_headers={"xi-api-key": KEY}) as socket:

        def send(message):
            fields = jsonable_encoder(message)
            socket.send(json.dumps({name: value for name, value in fields.items() if value is not None}))

        def read():
            message = json.loads(socket.recv())
            typed = construct_type(type_=WebsocketTtsServerMessageMulti, object_=message)
            final = message.pop("isFinal")
            unknown = set(typed.model_extra or {}) - {"isFinal"}
            if unknown or typed.context_id != context:
                sys.exit(f"unexpected: {unknown}, {typed.context_id}")
            return typed, final

        voice = RealtimeVoiceSettings(**settings["voice_settings"])
        send(InitializeConnectionMulti(voice_settings=voice, context_id=context))
        for index, sentence in enumerate(sentences):
            send(SendTextMulti(text=f"{sentence} ", context_id=context, flush=True))
            said = ""
            while said.strip() != sentence:
                message, _ = read()
                sounds[index] += base64.b64decode(message.audio)
                said += "".join(message.alignment.chars)
        send(CloseContext(context_id=context, close_context=True))
        final = False
        while not final:
            message, final = read()
            sounds[-1] += base64.b64decode(message.audio or "")
    return sounds


CLIENTS = {"cartesia": cartesia, "elevenlabs": elevenlabs}

provider, url, settings, sentences = sys.argv[1:]
sounds = CLIENTS[provider](url, json.loads(settings), json.loads(sentences))
print(json.dumps([base64.b64encode(sound).decode() for sound in sounds]))
