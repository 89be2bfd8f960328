/** Makes a provider that takes whole turns look like one that streams. */
import { EventEmitter, on } from 'node:events';

import { toCallFailure, type ProviderConnect, type ProviderFetch } from '../../../../calls/provider-access/index.ts';
import { wavOf } from '../../../../platform/wav.ts';
import { countedTurn, type HeardMeter } from '../../../../calls/usage/heard-meter.ts';
import { parseMessage } from '../../protocol-support.ts';
import { RECOGNITION_SAMPLE_RATE } from '../recognition.ts';
import type { SttProtocol } from '../stt-protocols.ts';
import type { SttStreaming } from './protocol.ts';

const BYTES_PER_MS = (RECOGNITION_SAMPLE_RATE * 2) / 1_000;
/** Fewest bytes of a request: some providers refuse shorter audio. */
const MIN_BYTES = 100 * BYTES_PER_MS;

const FLUSH = 'flush';

/** Builds a protocol in which each flush is one request. */
export const wholeTurns = (model: string): SttStreaming => ({
  model,
  url: '',
  headers: {},
  sampleRate: RECOGNITION_SAMPLE_RATE,
  speechOnly: true,
  answersEveryFlush: true,
  byRequest: true,
  session: () => ({
    audio: (pcm) => [pcm],
    flush: () => [FLUSH],
    keepAlive: () => [],
    end: () => [],
    read: (message) => [{ type: 'final', text: (message as { readonly text: string }).text }, { type: 'flushed' }],
  }),
});

/** Connects by the protocol above, and speaks HTTP. */
export function connectToWholeTurns(options: {
  readonly provider: string;
  readonly protocol: SttProtocol;
  readonly fetch: ProviderFetch;
  readonly counted?: HeardMeter | undefined;
}): ProviderConnect {
  const { provider, protocol, fetch, counted } = options;
  const textOf = async (pcm: Uint8Array, signal: AbortSignal): Promise<string> => {
    if (pcm.length < MIN_BYTES) return '';
    const { url, headers, body } = protocol.requestFor(
      wavOf({ samples: new Int16Array(new Uint8Array(pcm).buffer), sampleRate: RECOGNITION_SAMPLE_RATE }),
    );
    const answer = await countedTurn({ counted, milliseconds: pcm.length / BYTES_PER_MS, signal }, async () => {
      const response = await fetch(url, { method: 'POST', headers, body: body as never, signal });
      return response.text();
    });
    const text = protocol.textOf(parseMessage(answer));
    if (text === undefined)
      throw toCallFailure({ part: 'stt', provider }, 'payload', 'sent something that is no transcript: check its address');
    return text;
  };
  return async (_url, { signal }) => {
    const closing = new AbortController();
    const turns = new EventEmitter();
    // It listens from the beginning: a turn may be over before messages are read.
    const asked = on(turns, FLUSH, { close: ['close'] }) as AsyncIterable<[Uint8Array]>;
    const turn: Uint8Array[] = [];
    return {
      send(message) {
        if (typeof message !== 'string') turn.push(message);
        else turns.emit(FLUSH, Buffer.concat(turn.splice(0)));
      },
      async *messages() {
        try {
          for await (const [pcm] of asked) yield JSON.stringify({ text: await textOf(pcm, AbortSignal.any([signal, closing.signal])) });
        } catch (error) {
          // A connection that is closed from here ends without an error.
          if (!closing.signal.aborted) throw error;
        }
      },
      close() {
        closing.abort();
        turns.emit('close');
      },
    };
  };
}
