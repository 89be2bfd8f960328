/** Runs speech to text without a session. */
import { pino } from 'pino';

import type { Clock } from '../../platform/clock.ts';
import { ProviderOrder } from '../../calls/fallback/provider-order.ts';
import { providerFailureOf, type SpeechRecognizer } from '../../voice/providers/index.ts';
import { StreamingRecognizer } from '../../voice/providers/stt/streaming-recognizer.ts';
import type { SttProvider } from '../../voice/providers/stt/streaming/streamed-recognition.ts';

/** @param providers the first one is preferred */
export function recognizerOf(
  providers: readonly SttProvider[],
  { clock, onTakeover = () => undefined }: { readonly clock: Clock; readonly onTakeover?: () => void },
): StreamingRecognizer {
  return new StreamingRecognizer({
    clock,
    providers: new ProviderOrder({
      part: 'stt',
      providers,
      restMs: Number.POSITIVE_INFINITY,
      failureOf: (rejection) => providerFailureOf(rejection, 'stt'),
      clock,
      logger: pino({ level: 'silent' }),
      onTakeover,
    }),
  });
}

/** @param samples 16 kHz, one channel, all that the user says @returns the text that is understood @throws the error of the recognition */
export function recognize(recognizer: Pick<SpeechRecognizer, 'listen'>, samples: Int16Array): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const finals: string[] = [];
  const recognition = recognizer.listen((event) => {
    if (event.type === 'final') finals.push(event.text);
    if (event.type === 'settled') resolve(finals.join(' '));
    if (event.type === 'failed') reject(event.error);
  });
  recognition.speaks();
  recognition.push(samples);
  recognition.pauses();
  return promise.finally(() => recognition.close());
}
