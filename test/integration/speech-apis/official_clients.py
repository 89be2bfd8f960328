"""Asks a provider for a transcript or for speech with its own client, as an application of its users would.

Arguments: provider, `stt` or `tts`, the address to use, and the settings as JSON. Prints the result as one JSON object.
"""

import base64
import io
import json
import sys
import wave

KEY = "a-key"


def recording():
    """One second of silence: what is recognised, the server says."""
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(16_000)
        wav.writeframes(bytes(32_000))
    return file.getvalue()


def deepgram(part, url, settings):
    from deepgram import DeepgramClient
    from deepgram.environment import DeepgramClientEnvironment

    socket = url.replace("http", "ws")
    environment = DeepgramClientEnvironment(base=url, production=socket, agent=socket, agent_rest=url)
    client = DeepgramClient(api_key=KEY, environment=environment)
    if part == "stt":
        answer = client.listen.v1.media.transcribe_file(request=recording(), smart_format=True, **settings)
        return {"text": answer.results.channels[0].alternatives[0].transcript}
    sound = client.speak.v1.audio.generate(encoding="linear16", sample_rate=24_000, container="none", **settings)
    return {"sound": b"".join(sound)}


def elevenlabs(part, url, settings):
    from elevenlabs import ElevenLabs, VoiceSettings

    client = ElevenLabs(api_key=KEY, base_url=url)
    if part == "stt":
        return {"text": client.speech_to_text.convert(file=recording(), tag_audio_events=False, **settings).text}
    name, stability = settings.pop("voice"), settings.pop("stability")
    pace = {name: settings.pop(name) for name in ["speed"] if name in settings}
    found = client.voices.search(search=name, page_size=100).voices
    voice = next(voice.voice_id for voice in found if voice.name == name)
    sound = client.text_to_speech.stream(
        voice,
        output_format="pcm_24000",
        voice_settings=VoiceSettings(stability=stability, similarity_boost=0.75, **pace),
        **settings,
    )
    return {"sound": b"".join(sound)}


def cartesia(_part, url, settings):
    """Its voices only: it speaks over a WebSocket."""
    from cartesia import Cartesia

    name = settings["voice"]
    return {"voice": next(voice.id for voice in Cartesia(api_key=KEY, base_url=url).voices.list(q=name, limit=100) if voice.name == name)}


def openai(part, url, settings):
    from openai import OpenAI

    client = OpenAI(api_key=KEY, base_url=f"{url}/v1")
    if part == "stt":
        file = ("audio.wav", recording(), "audio/wav")
        return {"text": client.audio.transcriptions.create(file=file, response_format="json", **settings).text}
    return {"sound": client.audio.speech.create(response_format="pcm", **settings).read()}


def google(part, url, settings):
    from google.auth.api_key import Credentials

    more = {"host": url.removeprefix("http://"), "url_scheme": "http", "credentials": Credentials(KEY)}
    if part == "stt":
        from google.cloud import speech_v1
        from google.cloud.speech_v1.services.speech.transports.rest import SpeechRestTransport

        client = speech_v1.SpeechClient(transport=SpeechRestTransport(**more))
        config = speech_v1.RecognitionConfig(enable_automatic_punctuation=True, **settings)
        answer = client.recognize(config=config, audio=speech_v1.RecognitionAudio(content=recording()))
        return {"text": "".join(result.alternatives[0].transcript for result in answer.results)}
    from google.cloud import texttospeech_v1
    from google.cloud.texttospeech_v1.services.text_to_speech.transports.rest import TextToSpeechRestTransport

    client = texttospeech_v1.TextToSpeechClient(transport=TextToSpeechRestTransport(**more))
    answer = client.synthesize_speech(
        input=texttospeech_v1.SynthesisInput(text=settings["text"]),
        voice=texttospeech_v1.VoiceSelectionParams(language_code=settings["language_code"], name=settings["name"]),
        audio_config=texttospeech_v1.AudioConfig(
            audio_encoding="LINEAR16", sample_rate_hertz=24_000, speaking_rate=settings.get("speaking_rate", 0)
        ),
    )
    return {"sound": answer.audio_content}


PROVIDERS = {"deepgram": deepgram, "elevenlabs": elevenlabs, "cartesia": cartesia, "openai": openai, "google": google}

provider, part, url, settings = sys.argv[1:]
result = PROVIDERS[provider](part, url, json.loads(settings))
if "sound" in result:
    result["sound"] = base64.b64encode(result["sound"]).decode()
print(json.dumps(result))
