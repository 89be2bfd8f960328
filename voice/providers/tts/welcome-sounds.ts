/**
 * Keeps the sound of welcome messages for ten minutes in this process: those who call together hear it at once, and it is synthesised
 * once.
 */
import type { Clock } from '../../../platform/clock.ts';
import { LruMap } from '../../../platform/lru.ts';
import { AccountMemory } from '../account-memory.ts';
import { withSound, type SpokenSentence, type SpeechSource } from './speech-source.ts';
import type { TtsSettings } from './tts-protocols.ts';

/** Most bytes of all agents' sounds: some five minutes. */
const MOST_BYTES = 16 * 1024 * 1024;

const kept = new AccountMemory<Uint8Array>(new LruMap(1_000, { limit: MOST_BYTES, weigh: ({ value }) => value.length }));

export interface WelcomeSoundsOptions {
  readonly source: SpeechSource;
  /** The message of the agent as it is spoken; one with placeholders differs from call to call. */
  readonly welcome: string | undefined;
  readonly settings: TtsSettings;
  readonly clock: Clock;
}

/** Keeps the sounds of a source. @returns the source, of which the sentences of the welcome message are asked for once */
export function withWelcomeSounds({ source, welcome = '', settings, clock }: WelcomeSoundsOptions): SpeechSource {
  if (welcome.trim() === '' || welcome.includes('{{')) return source;
  const { apiKey = '', ...endpoint } = settings.endpoint;
  const message = oneSpaced(welcome);
  const accountOf = ({ text, before }: SpokenSentence) => ({
    url: JSON.stringify({ ...settings, endpoint, text, before }),
    headers: { apiKey },
  });
  async function* soundOf(sentence: SpokenSentence, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    const account = message.startsWith(oneSpaced(sentence.before + sentence.text)) ? accountOf(sentence) : undefined;
    const known = account && kept.get(account, clock);
    if (known !== undefined) yield known;
    else if (account === undefined) yield* source.soundOf(sentence, signal);
    else {
      const chunks: Uint8Array[] = [];
      for await (const chunk of source.soundOf(sentence, signal)) {
        chunks.push(chunk);
        yield chunk;
      }
      // An interrupted sound has not come this far.
      const sound = Buffer.concat(chunks);
      if (sound.length > 0) kept.set(account, sound, clock);
    }
  }
  return withSound(source, soundOf);
}

const oneSpaced = (text: string): string => text.trim().replaceAll(/\s+/g, ' ');
