/** Counts what a provider's voice says: characters as they are asked for, which is what providers charge, and the sound that comes. */
import type { UsageOf } from '../../calls/usage/usage-line.ts';
import type { UsageMeter } from '../../calls/usage/usage-meter.ts';
import type { SpeechSource } from './speech-source.ts';
import { SAMPLE_RATE } from './tts-protocols.ts';

export interface CountedSpeechOptions {
  readonly provider: string;
  readonly meter: Pick<UsageMeter, 'add'>;
}

/** A sentence that was refused, or got no sound before the connection was lost, is not paid for; one that was cut off is. */
export function countedSpeech(source: SpeechSource, { provider, meter }: CountedSpeechOptions): SpeechSource {
  return {
    get model() {
      return source.model;
    },
    get atOnce() {
      return source.atOnce;
    },
    connect: (signal) => source.connect(signal),
    close: () => source.close(),
    async *soundOf(sentence, signal) {
      signal.throwIfAborted();
      const of: UsageOf = { kind: 'tts', purpose: 'conversation', provider, model: source.model };
      const asked = { requests: 1, characters: codePointsIn(sentence.text) };
      let bytesPerMs: number | undefined;
      try {
        // Counted as it comes: nobody reads the rest of a sentence that is cut off.
        for await (const chunk of source.soundOf(sentence, signal)) {
          if (bytesPerMs === undefined) meter.add(of, asked);
          bytesPerMs ??= bytesPerMsOf(chunk);
          meter.add(of, { audioMilliseconds: chunk.length / bytesPerMs });
          yield chunk;
        }
      } finally {
        if (bytesPerMs === undefined && signal.aborted) meter.add(of, asked);
      }
    },
  };
}

/** Not graphemes: providers charge an accent that stands by itself, too. */
const codePointsIn = (text: string): number => Array.from(text).length;

/** 16-bit PCM, unless the head of a WAV file says how much it has for a second. */
function bytesPerMsOf(first: Uint8Array): number {
  const head = Buffer.from(first.buffer, first.byteOffset, first.byteLength);
  const perSecond = head.length >= 32 && head.toString('latin1', 0, 4) === 'RIFF' ? head.readUInt32LE(28) : 0;
  return (perSecond > 0 ? perSecond : SAMPLE_RATE * 2) / 1_000;
}
