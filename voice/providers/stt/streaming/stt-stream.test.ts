/** What the stream does over time; the providers' own protocols are in test/integration/speech-apis/streaming. */
import { initializeLogger, stt } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';

import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import type { ProviderError, ProviderSocket } from '../../../calls/provider-access/index.ts';
import { providerFailureOf } from '../../provider-errors.ts';
import { SttAdapter } from '../stt-adapter.ts';
import type { SttStreamEvent, SttStreaming } from './protocol.ts';
import type { SttStream } from './stt-stream.ts';

const SAMPLE_RATE = 16_000;

/** One connection; what is received is an event already. */
class TestSocket implements ProviderSocket {
  readonly sent: (string | Uint8Array)[] = [];
  #received: string[] = [];
  #next = Promise.withResolvers<void>();
  closed = false;

  send(message: string | Uint8Array): void {
    this.sent.push(message);
  }

  receive(event: SttStreamEvent): void {
    this.#received.push(JSON.stringify(event));
    this.#next.resolve();
  }

  close(): void {
    this.closed = true;
    this.#next.resolve();
  }

  async *messages(): AsyncGenerator<string> {
    while (!this.closed) {
      await this.#next.promise;
      this.#next = Promise.withResolvers<void>();
      yield* this.#received.splice(0);
    }
  }

  get audio(): Buffer {
    return Buffer.concat(this.sent.filter((message) => typeof message !== 'string'));
  }
}

let clock: FakeClock;
let sockets: TestSocket[];
let failures: ProviderError[];
let adapter: SttAdapter;

beforeAll(() => initializeLogger({ pretty: false, level: 'silent' }));
beforeEach(() => {
  clock = new FakeClock();
  sockets = [];
  failures = [];
});
afterEach(() => adapter.close());

async function streamOf(streaming: Partial<SttStreaming> = {}): Promise<SttStream> {
  adapter = new SttAdapter({
    provider: 'acme',
    language: 'en-US',
    clock,
    speaks: {
      streaming: {
        model: 'm',
        url: 'ws://acme',
        headers: {},
        sampleRate: SAMPLE_RATE,
        session: () => ({
          audio: (pcm) => [pcm],
          flush: () => ['flush'],
          end: () => ['end'],
          read: (received) => [received as SttStreamEvent],
        }),
        ...streaming,
      },
      connect: async () => {
        const socket = new TestSocket();
        sockets.push(socket);
        return socket;
      },
    },
  });
  adapter.on('error', (event) => void failures.push(providerFailureOf(event, 'stt')));
  const stream = adapter.stream();
  // LiveKit begins a little later.
  await vi.waitUntil(() => sockets.length === 1);
  await settle();
  return stream;
}

async function push(stream: SttStream, samples: number): Promise<void> {
  const data = Int16Array.from({ length: samples }, (_, n) => n + 1);
  stream.pushFrame(new AudioFrame(data, SAMPLE_RATE, 1, samples));
  await settle();
}

async function receive(socket: TestSocket, event: SttStreamEvent): Promise<void> {
  socket.receive(event);
  await settle();
}

it('gives up a provider that never accepts audio', async () => {
  const stream = await streamOf({ confirms: true });
  await push(stream, 800);
  expect(sockets[0]?.sent).toEqual([]);
  await clock.advance(8_000);
  expect(failures).toMatchObject([{ kind: 'unreachable', message: 'acme (speech to text) did not accept audio within 8000 ms' }]);
});

it('waits no longer once audio is accepted', async () => {
  const stream = await streamOf({ confirms: true });
  await push(stream, 800);
  await receive(sockets[0]!, { type: 'ready' });
  expect(sockets[0]?.audio).toHaveLength(1_600);
  await clock.advance(8_000);
  expect(sockets[0]?.closed).toBe(false);
});

// 1,001 samples at 16 kHz: twice as many bytes, calculated from the seconds, are one less.
it('begins again with a whole sample', async () => {
  const stream = await streamOf();
  await push(stream, 2_000);
  await receive(sockets[0]!, { type: 'final', text: 'one', upToSeconds: 1_001 / SAMPLE_RATE });
  sockets[0]?.close();
  await settle();
  await clock.advance(100);
  expect(sockets[1]?.audio.readInt16LE(0)).toBe(1_002);
});

it.each([
  ['before the pause', true],
  ['after it', false],
])('asks another connection when a pause is not answered and there are words from %s', async (_when, asked) => {
  const stream = await streamOf();
  await push(stream, 1_600);
  if (asked) await receive(sockets[0]!, { type: 'interim', text: 'one' });
  stream.userPaused();
  await push(stream, 1_600);
  if (!asked) await receive(sockets[0]!, { type: 'interim', text: 'two' });
  await clock.advance(5_000);
  expect(sockets[0]?.closed).toBe(asked);
});

it('takes a connection for dead after two pauses without a word of the provider', async () => {
  const stream = await streamOf();
  for (const dead of [false, true]) {
    await push(stream, 1_600);
    stream.userPaused();
    await settle();
    await clock.advance(5_000);
    expect(sockets[0]?.closed).toBe(dead);
  }
  await clock.advance(100);
  // With the silence that keeps connections alive.
  expect(sockets[1]?.audio).toHaveLength(12_800);
});

it('ends with the finals of what was pushed', async () => {
  const stream = await streamOf();
  await push(stream, 1_600);
  stream.endInput();
  await settle();
  expect(sockets[0]?.sent.slice(-2)).toEqual(['flush', 'end']);
  sockets[0]?.receive({ type: 'final', text: 'one' });
  await receive(sockets[0]!, { type: 'flushed' });
  const texts: (string | undefined)[] = [];
  for await (const { type, alternatives } of stream) if (type === stt.SpeechEventType.FINAL_TRANSCRIPT) texts.push(alternatives?.[0].text);
  expect(texts).toEqual(['one']);
});
