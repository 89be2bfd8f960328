/** Streaming speech to text loses and doubles no word, whatever the connection does: the APIs recognise exactly what they hear. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { openEgress, type TestEgress } from '../../../support/open-egress.ts';
import { systemClock, type Clock } from '../../../../platform/clock.ts';
import { createProviderConnect, type ProviderError } from '../../../../calls/provider-access/index.ts';
import { providerFailureOf, type SpeechRecognizer } from '../../../../voice/providers/index.ts';
import { sttStreamingOf } from '../../../../voice/providers/provider-table.ts';
import { RECOGNITION_SAMPLE_RATE as SAMPLE_RATE } from '../../../../voice/providers/stt/recognition.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { freePort } from '../../../support/free-port.ts';
import { recognize, recognizerOf } from '../../../support/speech-recognition.ts';
import { samplesOf, silence, wordsOf } from './spoken-words.ts';
import { startStreamingServer, type StreamingServer } from './streaming-server.ts';
import { CASES, endpointAt, type StreamingCase } from './streaming-cases.ts';

/** The message that keeps a connection alive is sent after so many milliseconds; a longer wait is a limit. */
const KEEP_ALIVE_MS = 4_000;
/** Milliseconds that the answer to a pause may take. */
const FLUSH_MS = 5_000;
/** No API waits so many milliseconds before it ends a turn. */
const PAUSE_MS = 600;
/** No API goes on listening to nothing for so many milliseconds. */
const LONG_SILENCE_MS = 3_500;

describe.each(CASES)('$name', ({ api, interimsAfterPause, speechOnly, ...where }: StreamingCase) => {
  const { endpoint } = where;
  let server: StreamingServer;
  let egress: TestEgress;
  let recognizer: SpeechRecognizer;
  /** The time of this clock never passes: a busy machine keeps its time for answers. */
  let limits: FakeClock;
  let patient: Clock;
  /** The same clock with short pauses between attempts. */
  let impatient: Clock;

  beforeEach(async () => {
    limits = new FakeClock();
    const monotonic = (): number => limits.monotonic();
    const held = (ms: number, callback: () => void) => limits.after(ms, callback);
    patient = { ...systemClock, monotonic, after: (ms, then) => (ms < KEEP_ALIVE_MS ? systemClock.after(ms, then) : held(ms, then)) };
    impatient = { ...patient, after: (ms, then) => (ms <= KEEP_ALIVE_MS ? systemClock.after(ms / 20, then) : held(ms, then)) };
    server = await startStreamingServer(api);
    egress = openEgress({ allowCidrs: ['127.0.0.0/8'], clock: patient });
    recognizer = recognizerAt(server.url);
  });
  afterEach(async () => {
    await recognizer.close();
    egress.close();
    await server.stop();
  });

  function recognizerAt(url: string, { through = egress, clock = patient } = {}): SpeechRecognizer {
    const reached = endpointAt(url, where);
    const streaming = sttStreamingOf({ endpoint: reached, language: 'en-US' })!;
    const connect = createProviderConnect({ endpoint: reached, egress: through, clock });
    return recognizerOf([{ provider: reached.provider, model: streaming.model, streaming, connect }], { clock });
  }

  interface Call {
    readonly finals: string[];
    readonly interims: string[];
    readonly failures: ProviderError[];
    readonly say: (words: readonly string[]) => void;
    readonly beSilent: (ms: number) => void;
    /** Reports silence, as a VAD would notice it. */
    readonly pause: () => void;
    readonly hangUp: () => void;
    /** Resolves when the stream has failed. */
    readonly failed: Promise<void>;
  }

  function call(through = recognizer): Call {
    const [finals, interims, failures]: [string[], string[], ProviderError[]] = [[], [], []];
    const failed = Promise.withResolvers<void>();
    const recognition = through.listen((event) => {
      if (event.type === 'final') finals.push(...event.text.split(' '));
      if (event.type === 'interim') interims.push(event.text);
      if (event.type !== 'failed') return;
      failures.push(providerFailureOf(event.error, 'stt'));
      failed.resolve();
    });
    return {
      finals,
      interims,
      failures,
      say: (words) => {
        recognition.speaks();
        recognition.push(samplesOf(words, SAMPLE_RATE));
      },
      beSilent: (ms) => recognition.push(silence(ms, SAMPLE_RATE)),
      pause: () => {
        recognition.push(silence(PAUSE_MS, SAMPLE_RATE));
        recognition.pauses();
      },
      hangUp: () => recognition.close(),
      failed: failed.promise,
    };
  }

  it('hears each turn once it is over, and its words before', async () => {
    const { finals, interims, say, pause, hangUp } = call();
    say(wordsOf(5));
    if (interimsAfterPause !== true) await expect.poll(() => interims.at(-1)).toMatch(/^one two three/);
    expect(finals).toEqual([]);
    pause();
    await expect.poll(() => interims.at(-1)).toMatch(/^one two three/);
    await expect.poll(() => finals).toEqual(wordsOf(5));
    say(wordsOf(3));
    pause();
    await expect.poll(() => finals).toEqual([...wordsOf(5), ...wordsOf(3)]);
    hangUp();
    expect(server.opened).toHaveLength(1);
  });

  it('hears what is said before the last turn is answered', async () => {
    const { finals, interims, say, pause, hangUp } = call();
    say(wordsOf(5));
    if (interimsAfterPause !== true) await expect.poll(() => interims).not.toEqual([]);
    for (const count of [4, 3]) {
      pause();
      say(wordsOf(count));
    }
    pause();
    await expect.poll(() => finals).toEqual([...wordsOf(5), ...wordsOf(4), ...wordsOf(3)]);
    hangUp();
    expect(server.opened).toHaveLength(1);
  });

  it('hears what is said after long silence', async () => {
    const { finals, beSilent, say, pause, hangUp } = call();
    for (const count of [3, 5]) {
      beSilent(LONG_SILENCE_MS);
      say(wordsOf(count));
      pause();
      await expect.poll(() => finals.splice(0)).toEqual(wordsOf(count));
    }
    beSilent(LONG_SILENCE_MS);
    hangUp();
    expect(finals).toEqual([]);
    expect(server.opened).toHaveLength(1);
  });

  it('recognises a whole recording', async () => {
    const samples = [...samplesOf(wordsOf(4), SAMPLE_RATE), ...silence(PAUSE_MS, SAMPLE_RATE)];
    expect(await recognize(recognizer, Int16Array.from(samples))).toBe('one two three four');
  });

  it('loses and doubles nothing when connections break anywhere', async () => {
    const bytesPerSecond = api.sampleRate * 2;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: bytesPerSecond * 2 }), { maxLength: 2 }),
        async (turns, drops) => {
          server.faults.dropAfterBytes = [...drops];
          const own = recognizerAt(server.url, { clock: impatient });
          const { finals, failures, say, pause, hangUp } = call(own);
          const said: string[] = [];
          for (const count of turns) {
            say(wordsOf(count));
            said.push(...wordsOf(count));
            pause();
            await expect.poll(() => [failures, finals]).toEqual([[], said]);
          }
          hangUp();
          await own.close();
          expect(finals).toEqual(said);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('goes on when the connection breaks after minutes of silence', async () => {
    const { finals, failures, say, beSilent, pause } = call();
    const bytesPerSecond = api.sampleRate * 2;
    for (let seconds = 10; seconds <= 120; seconds += 10) {
      beSilent(10_000);
      // The audio is less than a message may wait for the next one.
      await expect.poll(() => Math.ceil((server.opened[0]?.audioBytes ?? 0) / bytesPerSecond)).toBe(speechOnly === true ? 0 : seconds);
    }
    server.dropConnections();
    say(wordsOf(4));
    pause();
    await expect.poll(() => [failures, finals]).toEqual([[], wordsOf(4)]);
  });

  it.each([
    [401, 'refused', /answers 401: check its key/, 1],
    [400, 'refused', /answers 400: check its model/, 1],
    [429, 'runtime', /answers 429: its limit is reached/, 6],
    [500, 'runtime', /answers 500/, 6],
  ])('names an answer of %d', async (status, kind, message, attempts) => {
    server.faults.status = status;
    const { failures, failed } = call(recognizerAt(server.url, { clock: impatient }));
    await failed;
    expect(failures).toMatchObject([{ kind, status, provider: endpoint.provider, message: expect.stringMatching(message) as string }]);
    expect(server.opened).toHaveLength(attempts);
  });

  it('goes on after a failure that passes', async () => {
    Object.defineProperty(server.faults, 'status', { get: () => (server.opened.length === 1 ? 503 : undefined) });
    const { finals, failures, say, pause } = call();
    say(wordsOf(4));
    await expect.poll(() => server.opened.length).toBe(2);
    pause();
    await expect.poll(() => finals).toEqual(wordsOf(4));
    expect(failures).toEqual([]);
  });

  it('leaves a connection on which nothing is answered any more', async () => {
    const answers = new FakeClock();
    const clock: Clock = { ...patient, after: (ms, then) => (ms === FLUSH_MS ? answers : patient).after(ms, then) };
    const { finals, failures, say, pause } = call(recognizerAt(server.url, { clock }));
    say(wordsOf(2));
    pause();
    await expect.poll(() => finals).toEqual(wordsOf(2));
    const [first] = server.opened;
    first!.dead = true;
    say(wordsOf(4));
    // The first connection may still be answered by what was on its way.
    for (let pauses = 0; pauses < 4 && !first!.closed; pauses += 1) {
      const heard = first!.audioBytes;
      // Some APIs take speech only: they get a noise.
      say([]);
      pause();
      await expect.poll(() => first!.closed || first!.audioBytes > heard).toBe(true);
      await settle();
      answers.tick(FLUSH_MS);
      await settle();
    }
    await expect.poll(() => server.opened.length).toBeGreaterThan(1);
    await expect.poll(() => finals).toEqual([...wordsOf(2), ...wordsOf(4)]);
    expect(failures).toEqual([]);
  });

  it('is refused by a close that says so, and takes no other for a refusal', async () => {
    server.faults.closeCode = 1008;
    const refused = call();
    await refused.failed;
    expect(refused.failures).toMatchObject([{ kind: 'refused', message: expect.stringContaining('(1008)') as string }]);
    expect(server.opened).toHaveLength(1);
    server.faults.closeCode = 1011;
    const broken = call(recognizerAt(server.url, { clock: impatient }));
    await broken.failed;
    expect(broken.failures).toMatchObject([{ kind: 'connection_lost', message: expect.stringContaining('1011') as string }]);
  });

  it.each(['no JSON', '{}', '[[]]', 'null', '{"type":"Results"}'])('does not stumble over the message %s', async (garbage) => {
    const { finals, failures, say, pause } = call();
    server.faults.garbage = garbage;
    say(wordsOf(4));
    await expect.poll(() => server.opened[0]?.audioBytes).toBeGreaterThan(0);
    server.faults.garbage = undefined;
    pause();
    await expect.poll(() => finals).toEqual(wordsOf(4));
    expect(failures).toEqual([]);
  });

  it('reaches no address that the guard forbids', async () => {
    const strict = openEgress();
    const { failures, failed } = call(recognizerAt(server.url, { through: strict }));
    await failed;
    strict.close();
    expect(failures).toMatchObject([{ kind: 'refused', message: expect.stringContaining("can't be called") as string }]);
    expect(server.opened).toEqual([]);
  });

  it('cannot be reached where nothing listens', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { failures, failed } = call(recognizerAt(url, { clock: impatient }));
    await failed;
    expect(failures).toMatchObject([{ kind: 'unreachable', message: expect.stringContaining('ECONNREFUSED') as string }]);
  });
});
