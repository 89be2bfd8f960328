"""Streams speech to a provider with its own client, as an application of its users would.

Arguments: provider, the address to use, the settings as JSON, and a file with the audio (16 bits, one channel). Prints the final transcripts as JSON.
"""

import asyncio
import base64
import json
import sys
import threading

KEY = "a-key"
CHUNK = 3200


def chunks(audio):
    return (audio[at : at + CHUNK] for at in range(0, len(audio), CHUNK))


def deepgram_client(url):
    from deepgram import DeepgramClient
    from deepgram.environment import DeepgramClientEnvironment

    socket = url.replace("http", "ws")
    return DeepgramClient(api_key=KEY, environment=DeepgramClientEnvironment(base=url, production=socket, agent=socket, agent_rest=url))


def deepgram(url, settings, audio):
    finals = []
    with deepgram_client(url).listen.v1.connect(**settings) as connection:
        for chunk in chunks(audio):
            connection.send_media(chunk)
        connection.send_finalize()
        connection.send_close_stream()
        for message in connection:
            if message.type == "Results" and message.is_final and message.channel.alternatives[0].transcript:
                finals.append(message.channel.alternatives[0].transcript)
    return finals


def deepgram_flux(url, settings, audio):
    finals = []
    with deepgram_client(url).listen.v2.connect(**settings) as connection:
        for chunk in chunks(audio):
            connection.send_media(chunk)
        connection.send_close_stream()
        for message in connection:
            if message.type == "TurnInfo" and message.event == "EndOfTurn":
                finals.append(message.transcript)
    return finals


def openai(url, settings, audio):
    from openai import OpenAI

    connect = OpenAI(api_key=KEY, base_url=f"{url}/v1").realtime.connect
    with connect(model=settings["model"], extra_query={"intent": "transcription"}) as connection:
        connection.session.update(session=settings["session"])
        for chunk in chunks(audio):
            connection.input_audio_buffer.append(audio=base64.b64encode(chunk).decode())
        connection.input_audio_buffer.commit()
        for event in connection:
            # The client takes whatever comes; this fails where a field is missing.
            type(event).model_validate(event.model_dump())
            if event.type == "conversation.item.input_audio_transcription.completed":
                return [event.transcript]
            if event.type == "error":
                raise RuntimeError(event.error)


def elevenlabs(url, settings, audio):
    """Its client of this API is asynchronous only."""
    from elevenlabs import AudioFormat, CommitStrategy, ElevenLabs, RealtimeEvents

    async def stream():
        finals, committed = [], asyncio.Event()
        options = {"audio_format": AudioFormat.PCM_16000, "commit_strategy": CommitStrategy.MANUAL, **settings}
        connection = await ElevenLabs(api_key=KEY, base_url=url).speech_to_text.realtime.connect(options)

        def on_committed(message):
            finals.append(message["text"])
            committed.set()

        connection.on(RealtimeEvents.COMMITTED_TRANSCRIPT, on_committed)
        connection.on(RealtimeEvents.ERROR, lambda message: sys.exit(message["error"]))
        for chunk in chunks(audio):
            await connection.send({"audio_base_64": base64.b64encode(chunk).decode()})
        await connection.commit()
        await committed.wait()
        await connection.close()
        return finals

    return asyncio.run(stream())


def cartesia(url, settings, audio):
    from cartesia import Cartesia

    pieces = []
    with Cartesia(api_key=KEY, base_url=url).stt.manual_finalize.websocket(**settings) as connection:
        for chunk in chunks(audio):
            connection.send_raw(chunk)
        connection.send("finalize")
        connection.send("close")
        for message in connection:
            if message.type == "error":
                sys.exit(message.message)
            if message.type == "transcript" and message.is_final:
                pieces.append(message.text)
    return ["".join(pieces).strip()]


def azure(url, settings, audio):
    from azure.cognitiveservices import speech

    phrases = settings.pop("phrases", [])
    # As for a container of one's own: TLS is for addresses of Azure.
    config = speech.SpeechConfig(subscription=KEY, host=url.replace("http", "ws"), **settings)
    config.output_format = speech.OutputFormat.Simple
    stream = speech.audio.PushAudioInputStream()
    recognizer = speech.SpeechRecognizer(config, speech.audio.AudioConfig(stream=stream))
    for phrase in phrases:
        speech.PhraseListGrammar.from_recognizer(recognizer).addPhrase(phrase)
    finals, stopped = [], threading.Event()
    recognizer.recognized.connect(lambda event: event.result.text and finals.append(event.result.text))
    recognizer.session_stopped.connect(lambda event: stopped.set())
    recognizer.start_continuous_recognition_async().get()
    for chunk in chunks(audio):
        stream.write(chunk)
    stream.close()
    if not stopped.wait(60):
        sys.exit("no session_stopped")
    recognizer.stop_continuous_recognition_async().get()
    return finals


def assemblyai(url, settings, audio):
    from assemblyai.streaming.v3 import RealTimeEvents, RealTimeParameters, RealTimeTranscriber, RealTimeTranscriberOptions

    # It takes the key from an application's options, and messages of 50 ms to 1 s.
    client = RealTimeTranscriber(RealTimeTranscriberOptions(api_host=url.replace("http", "ws"), api_key=KEY, connect_timeout=30))
    finals, errors = [], []
    client.on(RealTimeEvents.Turn, lambda _, turn: finals.append(turn.transcript) if turn.end_of_turn else None)
    client.on(RealTimeEvents.Error, lambda _, error: errors.append(error))
    client.connect(RealTimeParameters(**settings))
    client.stream(audio[at : at + 4608] for at in range(0, len(audio), 4608))
    client.force_endpoint()
    client.disconnect(terminate=True)
    if errors:
        raise errors[0]
    return finals


CLIENTS = {
    "assemblyai": assemblyai,
    "azure": azure,
    "cartesia": cartesia,
    "deepgram": deepgram,
    "deepgram_flux": deepgram_flux,
    "elevenlabs": elevenlabs,
    "openai": openai,
}

client, url, settings, file = sys.argv[1:]
with open(file, "rb") as sound:
    print(json.dumps(CLIENTS[client](url, json.loads(settings), sound.read())))
