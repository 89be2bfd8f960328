/** Tests a recognition over time; the providers' own protocols are in test/integration/speech-apis/streaming. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { recognizerOf } from '../../../../test/support/speech-recognition.ts';
import { toCallFailure, type ProviderConnect, type ProviderError, type ProviderSocket } from '../../../../calls/provider-access/index.ts';
import { LATE_MS } from '../../../../calls/fallback/provider-order.ts';
import { providerFailureOf } from '../../provider-errors.ts';
import type { Recognition, RecognitionEvent, SpeechRecognizer } from '../recognition.ts';
import type { SttStreamEvent, SttStreaming, SttStreamSession } from './protocol.ts';
import type { SttProvider } from './streamed-recognition.ts';

const SAMPLE_RATE = 16_000;
/** Samples in a millisecond. */
const PER_MS = 16;

/** One connection, which receives events as they are. */
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
let events: RecognitionEvent[];
let failures: ProviderError[];
let takeovers: number;
let recognizer: SpeechRecognizer;
let recognition: Recognition;

beforeEach(() => {
  clock = new FakeClock();
  sockets = [];
  events = [];
  failures = [];
  takeovers = 0;
});
afterEach(() => recognizer.close());

const opens: ProviderConnect = async () => {
  const socket = new TestSocket();
  sockets.push(socket);
  return socket;
};

const sessionWithoutFlush = (): SttStreamSession => ({
  audio: (pcm) => [pcm],
  end: () => ['end'],
  read: (received) => [received as SttStreamEvent],
});

function providerOf(provider: string, connect: ProviderConnect, streaming: Partial<SttStreaming> = {}): SttProvider {
  return {
    provider,
    model: 'm',
    connect,
    streaming: {
      model: 'm',
      url: 'ws://x',
      headers: {},
      sampleRate: SAMPLE_RATE,
      session: () => ({ ...sessionWithoutFlush(), flush: () => ['flush'] }),
      ...streaming,
    },
  };
}

async function listen(...providers: readonly SttProvider[]): Promise<void> {
  recognizer = recognizerOf(providers, { clock, onTakeover: () => void (takeovers += 1) });
  recognition = recognizer.listen((event) => {
    events.push(event);
    if (event.type === 'failed') failures.push(providerFailureOf(event.error, 'stt'));
  });
  await settle();
}

const listenTo = (streaming: Partial<SttStreaming> = {}): Promise<void> => listen(providerOf('acme', opens, streaming));

/** Listens with two providers; their connections are made as the test says. */
const listenWithFallback = ([preferred, fallback]: readonly [ProviderConnect, ProviderConnect], sampleRate = SAMPLE_RATE): Promise<void> =>
  listen(providerOf('a', preferred), providerOf('b', fallback, { sampleRate }));

async function push(samples: number): Promise<void> {
  recognition.push(Int16Array.from({ length: samples }, (_, n) => n + 1));
  await settle();
}

async function receive(socket: TestSocket, event: SttStreamEvent): Promise<void> {
  socket.receive(event);
  await settle();
}

const refuses: ProviderConnect = () =>
  Promise.reject(toCallFailure({ part: 'stt', provider: 'x' }, 'refused', 'answers 401', { status: 401 }));
const hangs: ProviderConnect = (_url, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

it.each([
  ['refuses', refuses, 0],
  ['does not answer', hangs, LATE_MS],
])('hears with the fallback where the provider %s, from the first word on', async (_how, connect, lateMs) => {
  const tried = vi.fn<ProviderConnect>(connect);
  await listenWithFallback([tried, opens]);
  await push(200 * PER_MS);
  await expect.poll(() => tried).toHaveBeenCalledOnce();
  clock.tick(lateMs);
  await expect.poll(() => sockets).toHaveLength(1);
  await settle();
  expect(sockets[0]!.audio).toHaveLength(200 * PER_MS * 2);
  expect([takeovers, recognizer.provider, failures]).toEqual([1, 'b', []]);
});

it('hears with the fallback what a lost or silent provider has not understood', async () => {
  for (const how of ['lost', 'silent'] as const) {
    sockets = [];
    await listenWithFallback([opens, opens]);
    await expect.poll(() => sockets).toHaveLength(1);
    await push(300 * PER_MS);
    sockets[0]!.receive({ type: 'final', text: 'hello', upToSeconds: 0.1 });
    sockets[0]!.receive({ type: 'interim', text: 'I would' });
    await settle();
    if (how === 'lost') sockets[0]!.close();
    else {
      recognition.pauses();
      await settle();
      clock.tick(LATE_MS);
    }
    await expect.poll(() => sockets).toHaveLength(2);
    await settle();
    expect(sockets[1]!.audio).toHaveLength(200 * PER_MS * 2);
    expect(sockets[1]!.sent.includes('flush')).toBe(how === 'silent');
    sockets[1]!.receive({ type: 'final', text: 'I would like' });
    await settle();
    expect(recognizer.provider).toBe('b');
    await recognizer.close();
  }
});

it('asks the fallback where the user paused, and not in the middle of what is said since', async () => {
  await listenWithFallback([opens, opens]);
  await expect.poll(() => sockets).toHaveLength(1);
  await push(300 * PER_MS);
  sockets[0]!.receive({ type: 'interim', text: 'I would' });
  await settle();
  recognition.pauses();
  await push(200 * PER_MS);
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
  await listenWithFallback([(url, options) => (well ? opens : refuses)(url, options), opens]);
  await expect.poll(() => sockets).toHaveLength(1);
  sockets[0]!.close();
  await expect.poll(() => sockets).toHaveLength(2);
  await settle();
  expect(recognizer.provider).toBe('b');
  sockets[1]!.receive({ type: 'final', text: 'hello' });
  await settle();
  sockets[1]!.close();
  await expect.poll(() => sockets).toHaveLength(3);
  await settle();
  expect([recognizer.provider, takeovers]).toEqual(['a', 2]);
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
});

it('sends audio at the rate that the fallback takes', async () => {
  await listenWithFallback([refuses, opens], 24_000);
  await push(2_000 * PER_MS);
  await expect.poll(() => sockets).toHaveLength(1);
  recognition.pauses();
  await settle();
  expect(sockets[0]!.audio).toHaveLength(2_000 * 48);
});

it('gives up a provider that never accepts audio', async () => {
  await listenTo({ confirms: true });
  await push(800);
  expect(sockets[0]?.sent).toEqual([]);
  await clock.advance(8_000);
  expect(failures).toMatchObject([{ kind: 'unreachable', message: 'acme (speech to text) did not accept audio within 8000 ms' }]);
});

it('waits no longer once audio is accepted', async () => {
  await listenTo({ confirms: true });
  await push(800);
  await receive(sockets[0]!, { type: 'ready' });
  expect(sockets[0]?.audio).toHaveLength(1_600);
  await clock.advance(8_000);
  expect(sockets[0]?.closed).toBe(false);
});

// 1,001 samples at 16 kHz: twice as many bytes, calculated from the seconds, are one less.
it('begins again with a whole sample', async () => {
  await listenTo();
  await push(2_000);
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
  await listenTo();
  await push(1_600);
  if (asked) await receive(sockets[0]!, { type: 'interim', text: 'one' });
  recognition.pauses();
  await push(1_600);
  if (!asked) await receive(sockets[0]!, { type: 'interim', text: 'two' });
  await clock.advance(5_000);
  expect(sockets[0]?.closed).toBe(asked);
});

/** Pauses without a word of the provider. @returns whether the first connection was closed after one pause, and after two */
async function closedByPauses(): Promise<readonly (boolean | undefined)[]> {
  const closed = [];
  for (let pauses = 0; pauses < 2; pauses += 1) {
    await push(1_600);
    recognition.pauses();
    await settle();
    await clock.advance(5_000);
    closed.push(sockets[0]?.closed);
  }
  return closed;
}

it('takes a connection for dead after two pauses without a word of the provider', async () => {
  await listenTo();
  expect(await closedByPauses()).toEqual([false, true]);
  await clock.advance(100);
  // The audio includes the silence that keeps connections alive.
  expect(sockets[1]?.audio).toHaveLength(12_800);
});

it('recognises until the words of each part that was said are final', async () => {
  await listenTo();
  const [socket] = sockets;
  const says = async (text: string): Promise<void> => {
    recognition.speaks();
    await push(1_600);
    await receive(socket!, { type: 'interim', text });
    expect(recognition.recognizes).toBe(true);
    recognition.pauses();
    await settle();
  };
  const hears = async (text: string): Promise<boolean> => {
    await receive(socket!, { type: 'final', text });
    await receive(socket!, { type: 'flushed' });
    return recognition.recognizes;
  };
  expect(recognition.recognizes).toBe(false);
  for (const text of ['one', 'two', 'three']) await says(text);
  expect([await hears('one'), await hears('two'), await hears('three')]).toEqual([true, true, false]);
  // The next hypothesis is taken back.
  await says('four');
  await receive(socket!, { type: 'interim', text: '' });
  expect(recognition.recognizes).toBe(false);
});

it.each([
  ['half a second', undefined, 500],
  ['what the VAD has not read, too', 900, 1_400],
  ['no more than ten seconds, for a process that stood still', 60_000, 10_000],
])('sends of the sound before speech %s', async (_what, unreadMs, sentMs) => {
  await listenTo({ speechOnly: true });
  for (let ms = 0; ms < 12_000; ms += 1_000) await push(1_000 * PER_MS);
  expect(sockets[0]!.audio).toHaveLength(0);
  recognition.speaks(unreadMs);
  expect(sockets[0]!.audio).toHaveLength(sentMs * PER_MS * 2);
});

it('counts no pause for that after which the provider was heard, though it answers no flush', async () => {
  await listenTo();
  await push(1_600);
  recognition.pauses();
  await settle();
  await receive(sockets[0]!, { type: 'final', text: 'one', upToSeconds: 0.1 });
  await clock.advance(5_000);
  expect(await closedByPauses()).toEqual([false, true]);
});

describe('a pause before that of a final', () => {
  async function says(text: string): Promise<void> {
    recognition.speaks();
    await push(1_000 * PER_MS);
    if (text !== '') await receive(sockets[0]!, { type: 'interim', text });
    recognition.pauses();
    await settle();
  }

  it('counts as answered where no flush ever is', async () => {
    await listenTo();
    await says('one');
    await receive(sockets[0]!, { type: 'final', text: 'one', upToSeconds: 0.8 });
    await says('two');
    expect(recognition.recognizes).toBe(true);
    await receive(sockets[0]!, { type: 'final', text: 'two', upToSeconds: 1.8 });
    expect(recognition.recognizes).toBe(false);
    await clock.advance(5_000);
    expect(sockets[0]!.closed).toBe(false);
  });

  it("counts as answered where it was a noise's", async () => {
    await listenTo();
    await says('');
    await says('one');
    await receive(sockets[0]!, { type: 'final', text: 'one', upToSeconds: 2 });
    expect(recognition.recognizes).toBe(false);
    const timers = clock.timers;
    await receive(sockets[0]!, { type: 'flushed' });
    // The deadline of the last pause is gone.
    expect(clock.timers).toBe(timers - 1);
  });

  it('is waited for where the final is of words before it', async () => {
    await listenTo();
    await says('one');
    await says('two');
    await receive(sockets[0]!, { type: 'final', text: 'one', upToSeconds: 0.8 });
    expect(recognition.recognizes).toBe(true);
  });
});

it('recognises what it asked for where every pause is answered', async () => {
  await listenTo({ answersEveryFlush: true });
  recognition.pauses();
  expect(recognition.recognizes).toBe(true);
  await settle();
  expect(recognition.recognizes).toBe(true);
  await receive(sockets[0]!, { type: 'flushed' });
  expect(recognition.recognizes).toBe(false);
});

describe('that all words have come', () => {
  const settledTimes = (): number => events.filter(({ type }) => type === 'settled').length;

  it.each([
    ['an answered pause', {}, { type: 'flushed' }],
    ['a final that reaches it', {}, { type: 'final', text: 'one', upToSeconds: 0.3 }],
    ['any final of a provider that answers by it', { answersByFinal: true }, { type: 'final', text: 'one', upToSeconds: 0.05 }],
    ['the next final of a provider that cannot be asked', { session: sessionWithoutFlush }, { type: 'final', text: 'one' }],
  ] as const)('is known from %s, once', async (_which, streaming, event) => {
    await listenTo(streaming);
    await push(1_600);
    recognition.pauses();
    await settle();
    expect(settledTimes()).toBe(0);
    await receive(sockets[0]!, event);
    expect(events.at(-1)).toEqual({ type: 'settled' });
    await receive(sockets[0]!, { type: 'final', text: 'two' });
    await clock.advance(5_000);
    expect(settledTimes()).toBe(1);
  });

  it('is taken for granted where nothing is answered', async () => {
    await listenTo();
    await push(1_600);
    recognition.pauses();
    await clock.advance(4_999);
    expect(settledTimes()).toBe(0);
    await clock.advance(1);
    expect(events).toEqual([{ type: 'settled' }]);
  });

  it('is not known before all pauses are answered', async () => {
    await listenTo();
    for (let pauses = 0; pauses < 2; pauses += 1) {
      await push(1_600);
      recognition.pauses();
    }
    await receive(sockets[0]!, { type: 'flushed' });
    expect(settledTimes()).toBe(0);
    await receive(sockets[0]!, { type: 'flushed' });
    expect(settledTimes()).toBe(1);
  });

  it('is known from the next connection where one was lost', async () => {
    await listenTo();
    await push(1_600);
    recognition.pauses();
    sockets[0]!.close();
    await clock.advance(100);
    expect(settledTimes()).toBe(0);
    await receive(sockets[1]!, { type: 'flushed' });
    expect(settledTimes()).toBe(1);
  });
});

it('gives a request for a whole turn the time that it takes', async () => {
  await listenTo({ answersEveryFlush: true, byRequest: true });
  await push(1_600);
  recognition.pauses();
  await clock.advance(60_000);
  expect([sockets.length, recognition.recognizes]).toEqual([1, true]);
  await receive(sockets[0]!, { type: 'final', text: 'one' });
  await receive(sockets[0]!, { type: 'flushed' });
  expect(events).toEqual([{ type: 'final', text: 'one' }, { type: 'settled' }]);
});

it('tells the provider that it is closed, and nobody else anything', async () => {
  await listenTo();
  await push(1_600);
  recognition.pauses();
  recognition.close();
  expect(sockets[0]!.sent.slice(-2)).toEqual(['flush', 'end']);
  await receive(sockets[0]!, { type: 'final', text: 'one' });
  recognition.push(new Int16Array(1_600));
  recognition.speaks();
  recognition.pauses();
  expect([sockets.length, sockets[0]!.closed, clock.timers, recognition.recognizes, events]).toEqual([1, true, 0, false, []]);
});

it('is closed where it has failed', async () => {
  await listen(providerOf('acme', refuses));
  expect(failures).toMatchObject([{ kind: 'refused', status: 401 }]);
  await push(1_600);
  recognition.pauses();
  expect(clock.timers).toBe(0);
});
