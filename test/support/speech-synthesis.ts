/** Runs text to speech without a session. */
import type { AudioFrame } from '@livekit/rtc-node';
import { pino } from 'pino';

import type { Clock } from '../../platform/clock.ts';
import { ProviderOrder } from '../../calls/fallback/provider-order.ts';
import { joinSamples } from '../../voice/sound/join-samples.ts';
import { providerFailureOf, type SpeechSynthesizer } from '../../voice/providers/index.ts';
import { SentenceSynthesizer } from '../../voice/providers/tts/sentence-synthesizer.ts';
import type { SpeechSource } from '../../voice/providers/tts/speech-source.ts';
import { TtsProvider } from '../../voice/providers/tts/tts-provider.ts';

/** @param voices the first one is preferred */
export function synthesizerOf(
  voices: readonly { readonly provider: string; readonly source: SpeechSource }[],
  { clock }: { readonly clock: Clock },
): SentenceSynthesizer {
  return new SentenceSynthesizer({
    clock,
    voices: new ProviderOrder({
      part: 'tts',
      providers: voices.map((voice) => new TtsProvider(voice)),
      restMs: Number.POSITIVE_INFINITY,
      failureOf: (rejection) => providerFailureOf(rejection, 'tts'),
      clock,
      logger: pino({ level: 'silent' }),
    }),
  });
}

/** Speaks one answer, each sentence of which is asked for when the sound of the one before is there. */
export class SpokenSentences {
  readonly #synthesizer: Pick<SpeechSynthesizer, 'request'>;
  readonly #complete = new AbortController();
  /** All requests share this object: a connection knows the answer by it. */
  readonly #answer = { complete: this.#complete.signal };
  readonly #interrupted = new AbortController();
  /** Sound of each sentence so far. */
  readonly sounds: AudioFrame[][] = [];
  #before = '';

  constructor(synthesizer: Pick<SpeechSynthesizer, 'request'>) {
    this.#synthesizer = synthesizer;
  }

  /** Resolves when all sound is there. @param options.last set if no sentence follows @throws the error of the synthesis */
  async say(text: string, { last = false } = {}): Promise<void> {
    const request = { text, answer: this.#answer, before: this.#before, signal: this.#interrupted.signal };
    const begun = this.#synthesizer.request(request);
    this.#before += `${text} `;
    if (last) this.end();
    const sound: AudioFrame[] = [];
    this.sounds.push(sound);
    for await (const frame of await begun) sound.push(frame);
  }

  /** @throws the error of the synthesis */
  async sayAll(sentences: readonly string[]): Promise<void> {
    for (const [at, sentence] of sentences.entries()) await this.say(sentence, { last: at === sentences.length - 1 });
  }

  /** Says that no sentence follows. */
  end(): void {
    this.#complete.abort();
  }

  /** Says that nobody listens any more. */
  interrupt(): void {
    this.#interrupted.abort(new Error('interrupted'));
  }
}

/** @returns the sound of an answer, in one piece @throws the error that synthesis fails with */
export async function spokenBy(synthesizer: Pick<SpeechSynthesizer, 'request'>, ...sentences: readonly string[]): Promise<Int16Array> {
  const answer = new SpokenSentences(synthesizer);
  await answer.sayAll(sentences);
  return joinSamples(answer.sounds.flat().map(({ data }) => data));
}
