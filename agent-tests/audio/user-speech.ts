/** Speaks the user's turns of a test with the TTS of the agent that is tested. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { errorMessageOf } from '../../platform/caught.ts';
import { readWav, type Sound } from '../../platform/wav.ts';
import type { ProviderDefaults, ProviderKeyReader, WantedTts } from '../../calls/provider-access/index.ts';
import { createSpeechSource, voiceSettingsOf } from '../../voice/providers/create-speech-source.ts';
import { SAMPLE_RATE } from '../../voice/providers/tts/tts-protocols.ts';
import { DriverError } from '../driver.ts';

export interface UserSpeechOptions {
  readonly org: string;
  readonly agent: Pick<AgentRevisionConfig['agent'], 'language' | 'textToSpeech'>;
  readonly keys: ProviderKeyReader;
  readonly defaults: ProviderDefaults;
  readonly egress: Egress;
  readonly clock: Clock;
}

/** Longest time for one turn, in milliseconds. */
const TIMEOUT_MS = 60_000;
/** Enough for some ten minutes of sound. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Speech that all attempts at a test share: a text that is said again is not synthesised again. */
export class UserSpeech {
  readonly #options: UserSpeechOptions;
  readonly #sounds = new Map<string, Promise<Sound>>();

  constructor(options: UserSpeechOptions) {
    this.#options = options;
  }

  /** @throws DriverError when neither the voice nor a fallback of it speaks */
  of(text: string): Promise<Sound> {
    const known = this.#sounds.get(text);
    if (known !== undefined) return known;
    const sound = this.#speak(text);
    this.#sounds.set(text, sound);
    // The provider may have recovered by the next attempt.
    sound.catch(() => this.#sounds.delete(text));
    return sound;
  }

  async #speak(text: string): Promise<Sound> {
    const { fallbacks = [], ...first } = this.#options.agent.textToSpeech;
    const failures: unknown[] = [];
    for (const tts of [first, ...fallbacks]) {
      try {
        return await this.#speakWith(tts, text);
      } catch (error) {
        failures.push(error);
      }
    }
    const [cause] = failures;
    const reason = errorMessageOf(cause);
    throw new DriverError(`the user's turn can't be spoken: ${reason}`, { cause });
  }

  async #speakWith(tts: WantedTts, text: string): Promise<Sound> {
    const { agent, egress, clock, ...options } = this.#options;
    const { language, textToSpeech } = agent;
    const settings = await voiceSettingsOf({ ...options, tts, language, temperature: textToSpeech.temperature, egress, clock });
    const source = createSpeechSource({ ...settings, egress, clock });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      const sentence = { text, answer: { complete: AbortSignal.abort() }, before: '' };
      for await (const chunk of source.soundOf(sentence, AbortSignal.timeout(TIMEOUT_MS))) {
        bytes += chunk.length;
        if (bytes > MOST_BYTES) throw new RangeError(`${settings.endpoint.provider} sent more than ${MOST_BYTES} bytes for one turn`);
        chunks.push(chunk);
      }
    } finally {
      source.close();
    }
    if (bytes === 0) throw new RangeError(`${settings.endpoint.provider} sent no sound: check its model and voice`);
    return soundOf(Buffer.concat(chunks));
  }
}

/** Reads 16-bit PCM of one channel, or a WAV file, which some servers send whatever they are asked for. */
function soundOf(bytes: Buffer): Sound {
  if (bytes.subarray(0, 4).toString('latin1') === 'RIFF') return readWav(bytes);
  const samples = new Int16Array(Math.floor(bytes.length / 2));
  for (let index = 0; index < samples.length; index += 1) samples[index] = bytes.readInt16LE(index * 2);
  return { samples, sampleRate: SAMPLE_RATE };
}
