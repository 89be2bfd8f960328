/** What the stream does over time; the providers' own protocols are in test/integration/speech-apis/streaming. */
import { initializeLogger, stt } from '@livekit/agents';
import { AudioFrame } from '@livekit/rtc-node';
import { pino } from 'pino';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { failureOf, type ProviderConnect, type ProviderError, type ProviderSocket } from '../../../calls/provider-access/index.ts';
import { LATE_MS, ProviderOrder } from '../../../calls/fallback/provider-order.ts';
import { providerFailureOf } from '../../provider-errors.ts';
import { SttAdapter } from '../stt-adapter.ts';
import type { SttStreamEvent, SttStreaming, SttStreamSession } from './protocol.ts';
import type { Recognizer, SttStream } from './stt-stream.ts';

const SAMPLE_RATE = 16_000;
/** Samples. */
const PER_MS = 16;

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
let takeovers: number;
let adapter: SttAdapter;

beforeAll(() => initializeLogger({ pretty: false, level: 'silent' }));
beforeEach(() => {
  clock = new FakeClock();
  sockets = [];
  failures = [];
  takeovers = 0;
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
  await expect.poll(() => sockets).toHaveLength(1);
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

/** Two recognizers; their connections are made as the test says. */
async function streamWithFallback(connects: readonly [ProviderConnect, ProviderConnect], sampleRate = SAMPLE_RATE) {
  const providers = connects.map((connect, index): Recognizer => {
    const session = (): SttStreamSession => ({
      audio: (pcm) => [pcm],
      flush: () => ['flush'],
      end: () => ['end'],
      read: (received) => [received as SttStreamEvent],
    });
    const rate = index === 0 ? SAMPLE_RATE : sampleRate;
    return {
      provider: ['a', 'b'][index]!,
      model: 'm',
      connect,
      streaming: { model: 'm', url: 'ws://x', headers: {}, sampleRate: rate, session },
    };
  });
  const logger = pino({ level: 'silent' });
  const onTakeover = (): void => void (takeovers += 1);
  const recognizers = new ProviderOrder({
    part: 'stt',
    providers,
    restMs: Number.POSITIVE_INFINITY,
    failureOf: (rejection) => providerFailureOf(rejection, 'stt'),
    clock,
    logger,
    onTakeover,
  });
  adapter = new SttAdapter({ provider: 'a', language: 'en-US', clock, speaks: { recognizers } });
  adapter.on('error', (event) => void failures.push(providerFailureOf(event, 'stt')));
  const stream = adapter.stream();
  await settle();
  return stream;
}

const opens: ProviderConnect = async () => {
  const socket = new TestSocket();
  sockets.push(socket);
  return socket;
};
const refuses: ProviderConnect = () => Promise.reject(failureOf({ part: 'stt', provider: 'x' }, 'refused', 'answers 401', { status: 401 }));
const hangs: ProviderConnect = (_url, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

it.each([
  ['refuses', refuses, 0],
  ['does not answer', hangs, LATE_MS],
])('hears with the fallback where the provider %s, from the first word on', async (_how, connect, lateMs) => {
  const tried = vi.fn<ProviderConnect>(connect);
  const stream = await streamWithFallback([tried, opens]);
  await push(stream, 200 * PER_MS);
  await expect.poll(() => tried).toHaveBeenCalledOnce();
  clock.tick(lateMs);
  await expect.poll(() => sockets).toHaveLength(1);
  await settle();
  expect(sockets[0]!.audio).toHaveLength(200 * PER_MS * 2);
  expect([takeovers, adapter.provider, failures]).toEqual([1, 'b', []]);
});

it('hears with the fallback what a lost or silent provider has not understood', async () => {
  for (const how of ['lost', 'silent'] as const) {
    sockets = [];
    const stream = await streamWithFallback([opens, opens]);
    await expect.poll(() => sockets).toHaveLength(1);
    await push(stream, 300 * PER_MS);
    sockets[0]!.receive({ type: 'final', text: 'hello', upToSeconds: 0.1 });
    sockets[0]!.receive({ type: 'interim', text: 'I would' });
    await settle();
    if (how === 'lost') sockets[0]!.close();
    else {
      stream.userPaused();
      await settle();
      clock.tick(LATE_MS);
    }
    await expect.poll(() => sockets).toHaveLength(2);
    await settle();
    expect(sockets[1]!.audio).toHaveLength(200 * PER_MS * 2);
    expect(sockets[1]!.sent.includes('flush')).toBe(how === 'silent');
    sockets[1]!.receive({ type: 'final', text: 'I would like' });
    await settle();
    expect(adapter.provider).toBe('b');
    await adapter.close();
  }
});

it('asks the fallback where the user paused, and not in the middle of what is said since', async () => {
  const stream = await streamWithFallback([opens, opens]);
  await expect.poll(() => sockets).toHaveLength(1);
  await push(stream, 300 * PER_MS);
  sockets[0]!.receive({ type: 'interim', text: 'I would' });
  await settle();
  stream.userPaused();
  await push(stream, 200 * PER_MS);
  clock.tick(LATE_MS);
  await expect.poll(() => sockets).toHaveLength(2);
  await settle();
  const { sent } = sockets[1]!;
  const bytes = (messages: typeof sent): number => messages.reduce((sum, { length }) => sum + length, 0);
  const askedAt = sent.indexOf('flush');
  expect([bytes(sent.slice(0, askedAt)), bytes(sent.slice(askedAt + 1))]).toEqual([300 * PER_MS * 2, 200 * PER_MS * 2]);
});

it('goes back where the fallback fails, too, and fails when no provider is left', async () => {
  let well = true;
  const stream = await streamWithFallback([(url, options) => (well ? opens : refuses)(url, options), opens]);
  await expect.poll(() => sockets).toHaveLength(1);
  sockets[0]!.close();
  await expect.poll(() => sockets).toHaveLength(2);
  await settle();
  expect(adapter.provider).toBe('b');
  sockets[1]!.receive({ type: 'final', text: 'hello' });
  await settle();
  sockets[1]!.close();
  await expect.poll(() => sockets).toHaveLength(3);
  await settle();
  expect([adapter.provider, takeovers]).toEqual(['a', 2]);
  well = false;
  for (let attempt = 2; failures.length === 0; attempt += 1) {
    sockets[attempt]!.close();
    // The fallback opens a connection in each round.
    await expect
      .poll(() => {
        if (sockets.length > attempt + 1 || failures.length > 0) return true;
        if (clock.nextIn !== undefined) clock.tick(clock.nextIn);
        return false;
      })
      .toBe(true);
  }
  expect(failures[0]).toMatchObject({ part: 'stt' });
  stream.close();
});

it('sends audio at the rate that the fallback takes', async () => {
  const stream = await streamWithFallback([refuses, opens], 24_000);
  await push(stream, 2_000 * PER_MS);
  await expect.poll(() => sockets).toHaveLength(1);
  await settle();
  expect(Math.abs(sockets[0]!.audio.length / 48 - 2_000)).toBeLessThan(50);
});

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

/** @returns whether the first connection was closed after one pause without a word of the provider, and after two */
async function closedByPauses(stream: SttStream): Promise<readonly (boolean | undefined)[]> {
  const closed = [];
  for (let pauses = 0; pauses < 2; pauses += 1) {
    await push(stream, 1_600);
    stream.userPaused();
    await settle();
    await clock.advance(5_000);
    closed.push(sockets[0]?.closed);
  }
  return closed;
}

it('takes a connection for dead after two pauses without a word of the provider', async () => {
  const stream = await streamOf();
  expect(await closedByPauses(stream)).toEqual([false, true]);
  await clock.advance(100);
  // With the silence that keeps connections alive.
  expect(sockets[1]?.audio).toHaveLength(12_800);
});

it('recognises until the words of each part that was said are final', async () => {
  const stream = await streamOf();
  const [socket] = sockets;
  const says = async (text: string): Promise<void> => {
    stream.userSpeaks();
    await push(stream, 1_600);
    await receive(socket!, { type: 'interim', text });
    expect(adapter.recognizes).toBe(true);
    stream.userPaused();
    await settle();
  };
  const hears = async (text: string): Promise<boolean> => {
    await receive(socket!, { type: 'final', text });
    await receive(socket!, { type: 'flushed' });
    return adapter.recognizes;
  };
  expect(adapter.recognizes).toBe(false);
  for (const text of ['one', 'two', 'three']) await says(text);
  expect([await hears('one'), await hears('two'), await hears('three')]).toEqual([true, true, false]);
  // A hypothesis that was none.
  await says('four');
  await receive(socket!, { type: 'interim', text: '' });
  expect(adapter.recognizes).toBe(false);
});

it.each([
  ['half a second', undefined, 500],
  ['what the VAD has not read, too', 900, 1_400],
  ['no more than ten seconds, for a process that stood still', 60_000, 10_000],
])('sends of the sound before speech %s', async (_what, unreadMs, sentMs) => {
  const stream = await streamOf({ speechOnly: true });
  for (let ms = 0; ms < 12_000; ms += 1_000) await push(stream, 1_000 * PER_MS);
  expect(sockets[0]!.audio).toHaveLength(0);
  adapter.userSpeaks(unreadMs);
  expect(sockets[0]!.audio).toHaveLength(sentMs * PER_MS * 2);
});

it('counts no pause for that after which the provider was heard, though it answers no flush', async () => {
  const stream = await streamOf();
  await push(stream, 1_600);
  stream.userPaused();
  await settle();
  await receive(sockets[0]!, { type: 'final', text: 'one', upToSeconds: 0.1 });
  await clock.advance(5_000);
  expect(await closedByPauses(stream)).toEqual([false, true]);
});

describe('a pause before that of a final', () => {
  async function says(stream: SttStream, text: string): Promise<void> {
    stream.userSpeaks();
    await push(stream, 1_000 * PER_MS);
    if (text !== '') await receive(sockets[0]!, { type: 'interim', text });
    stream.userPaused();
    await settle();
  }

  it('counts as answered where no flush ever is', async () => {
    const stream = await streamOf();
    await says(stream, 'one');
    await receive(sockets[0]!, { type: 'final', text: 'one', upToSeconds: 0.8 });
    await says(stream, 'two');
    expect(adapter.recognizes).toBe(true);
    await receive(sockets[0]!, { type: 'final', text: 'two', upToSeconds: 1.8 });
    expect(adapter.recognizes).toBe(false);
    await clock.advance(5_000);
    expect(sockets[0]!.closed).toBe(false);
  });

  it("counts as answered where it was a noise's", async () => {
    const stream = await streamOf();
    await says(stream, '');
    await says(stream, 'one');
    await receive(sockets[0]!, { type: 'final', text: 'one', upToSeconds: 2 });
    expect(adapter.recognizes).toBe(false);
    const timers = clock.timers;
    await receive(sockets[0]!, { type: 'flushed' });
    // The deadline of the last pause.
    expect(clock.timers).toBe(timers - 1);
  });

  it('is waited for where the final is of words before it', async () => {
    const stream = await streamOf();
    await says(stream, 'one');
    await says(stream, 'two');
    await receive(sockets[0]!, { type: 'final', text: 'one', upToSeconds: 0.8 });
    expect(adapter.recognizes).toBe(true);
  });
});

it('recognises what it asked for where every pause is answered', async () => {
  const stream = await streamOf({ answersEveryFlush: true });
  stream.userPaused();
  expect(adapter.recognizes).toBe(true);
  await settle();
  expect(adapter.recognizes).toBe(true);
  await receive(sockets[0]!, { type: 'flushed' });
  expect(adapter.recognizes).toBe(false);
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
