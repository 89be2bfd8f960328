/** Text to speech over WebSockets loses and doubles nothing, whatever the connection does: the APIs' sound says which text it is. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { systemClock, type Clock } from '../../../../platform/clock.ts';
import { openEgress, type TestEgress } from '../../../support/open-egress.ts';
import { LATE_MS } from '../../../../calls/fallback/provider-order.ts';
import type { ProviderError } from '../../../../calls/provider-access/index.ts';
import { createSpeechSource } from '../../../../voice/providers/create-speech-source.ts';
import { providerFailureOf, type SpeechSynthesizer } from '../../../../voice/providers/index.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { freePort } from '../../../support/free-port.ts';
import { SpokenSentences, synthesizerOf } from '../../../support/speech-synthesis.ts';
import { CASES, endpointAt, type SpeakingCase } from './speaking-cases.ts';
import { startSpeakingServer, type SpeakingServer } from './speaking-server.ts';
import { textOf } from './spoken-text.ts';

/** A silent provider gets this many milliseconds. */
const SILENT_MS = 8_000;
const FIVE = [
  'We are open from nine to six.',
  'On Saturdays we close at noon!',
  'Would you like to come by today?',
  'The shop is in the old town, 12 Mill Lane.',
  'I can book a time for you.',
] as const;
const [FIRST, SECOND, THIRD] = FIVE;

describe.each(CASES)('$name', ({ api, ends, errors, continuesOverHttp, ...where }: SpeakingCase) => {
  const { provider } = where.endpoint;
  let server: SpeakingServer;
  let egress: TestEgress;
  let voice: SpeechSynthesizer;
  let failures: ProviderError[];
  /** The test moves this clock, which limits how long a provider may take, and how long it keeps a context. */
  let limits: FakeClock;
  /** Shorter pauses pass by themselves on this clock. */
  let clock: Clock;

  beforeEach(async () => {
    limits = new FakeClock();
    clock = {
      ...systemClock,
      monotonic: () => limits.monotonic(),
      after: (ms, callback) => (ms < LATE_MS ? systemClock : limits).after(ms, callback),
    };
    server = await startSpeakingServer(api);
    server.faults.now = () => limits.monotonic();
    egress = openEgress({ allowCidrs: ['127.0.0.0/8'], clock });
    failures = [];
    voice = voiceAt(server.url);
  });
  afterEach(async () => {
    await voice.close();
    egress.close();
    await server.stop();
  });

  function sourceAt(url: string, { through = egress, at = where }: { through?: TestEgress; at?: typeof where } = {}) {
    const endpoint = endpointAt(url, at);
    const source = createSpeechSource({ endpoint, language: 'en-US', temperature: 0.3, egress: through, clock });
    return { provider: endpoint.provider, source };
  }

  const voiceAt = (...at: Parameters<typeof sourceAt>): SpeechSynthesizer => synthesizerOf([sourceAt(...at)], { clock });

  const textsOf = ({ sounds }: SpokenSentences): readonly string[] => sounds.map(textOf);

  /** @returns the text that is heard of each sentence */
  async function say(sentences: readonly string[], by = voice): Promise<readonly string[]> {
    const answer = new SpokenSentences(by);
    await answer.sayAll(sentences).catch((error: unknown) => failures.push(providerFailureOf(error, 'tts')));
    return textsOf(answer);
  }

  const contexts = (): number => new Set(server.opened.flatMap(({ messages }) => messages.map((message) => message['context_id']))).size;

  it('says an answer in one context, answer after answer on one connection, and each sentence is known by its sound', async () => {
    for (let answer = 1; answer <= 3; answer += 1) {
      expect(await say(FIVE)).toEqual(FIVE);
      expect(contexts()).toBe(answer);
    }
    expect([server.opened.length, server.most(), server.requests.length]).toEqual([1, 1, 0]);
    await expect.poll(() => server.opened[0]?.messages.filter(ends)).toHaveLength(3);
    expect(failures).toEqual([]);
  });

  it('is connected before the first words', async () => {
    voice.connect(new AbortController().signal);
    await expect.poll(() => server.opened.length).toBe(1);
    await say([FIRST]);
    expect(server.opened).toHaveLength(1);
  });

  // The pause is longer than Cartesia keeps a context.
  it('says what comes after a pause', async () => {
    const answer = new SpokenSentences(voice);
    for (const sentence of [FIRST, SECOND]) {
      await answer.say(sentence);
      limits.tick(1_200);
    }
    answer.end();
    expect(textsOf(answer)).toEqual([FIRST, SECOND]);
    expect([server.opened.length, failures]).toEqual([1, []]);
  });

  it('stops when it is interrupted, however often, and goes on with the next answer', async () => {
    for (let answers = 1; answers <= 12; answers += 1) {
      // The first sentence goes on until it is interrupted.
      const { promise, resolve } = Promise.withResolvers<void>();
      server.faults.held = promise;
      const answer = new SpokenSentences(voice);
      const interrupted = answer.sayAll(FIVE).catch((error: unknown) => error);
      await expect.poll(() => textsOf(answer).join(), { interval: 5 }).not.toBe('');
      answer.interrupt();
      await expect.poll(() => server.opened[0]?.messages.filter(ends).length).toBe(answers);
      expect(await interrupted).toMatchObject({ message: 'interrupted' });
      resolve();
    }
    server.faults.held = undefined;
    expect(await say(FIVE)).toEqual(FIVE);
    expect([server.opened.length, server.most(), failures]).toEqual([1, 1, []]);
    expect(contexts()).toBe(13);
  });

  it('connects again where the connection is lost between answers', async () => {
    expect(await say([FIRST])).toEqual([FIRST]);
    server.dropConnections();
    expect(await say([FIRST])).toEqual([FIRST]);
    expect([server.opened.length, failures]).toEqual([2, []]);
  });

  it('asks again where it is lost before the first sound of an answer', async () => {
    server.faults.dropAfter = [0];
    expect(await say(FIVE)).toEqual(FIVE);
    expect([server.opened.length, server.most(), failures]).toEqual([2, 1, []]);
  });

  it('goes on with the answer where it is lost between two sentences, and says what came before where it can', async () => {
    const answer = new SpokenSentences(voice);
    await answer.say(FIRST);
    server.dropConnections();
    await answer.say(SECOND);
    await answer.say(THIRD, { last: true });
    expect(textsOf(answer)).toEqual([FIRST, SECOND, THIRD]);
    expect(failures).toEqual([]);
    expect(server.opened).toHaveLength(continuesOverHttp ? 1 : 2);
    const continued = continuesOverHttp ? [`${FIRST} `, `${FIRST} ${SECOND} `] : [];
    expect(server.requests.map(({ body }) => body['previous_text'])).toEqual(continued);
    expect(server.most()).toBe(1);
  });

  it('is broken where it is lost in a sentence', async () => {
    server.faults.dropAfter = [2];
    await say(FIVE);
    expect(failures).toMatchObject([{ kind: 'connection_lost', provider }]);
    expect(server.opened).toHaveLength(1);
  });

  it('says all, or all up to where a connection broke in a sentence, wherever connections break', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 3 }), async (drops) => {
        failures = [];
        server.faults.dropAfter = [...drops];
        const own = voiceAt(server.url);
        const said = await say(FIVE, own);
        await own.close();
        if (failures.length === 0) expect(said).toEqual(FIVE);
        expect(FIVE.join(' ').startsWith(said.join(' ').trim())).toBe(true);
        expect(failures.every(({ kind }) => kind === 'connection_lost')).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    [401, 'refused', /answers 401: check its key/, 1],
    [403, 'refused', /answers 403: check its key/, 1],
    [400, 'refused', /answers 400: check its model/, 1],
    [429, 'runtime', /answers 429: its limit is reached/, 3],
    [500, 'runtime', /answers 500/, 3],
  ])('names an answer of %d', async (status, kind, message, attempts) => {
    server.faults.status = status;
    await say(FIVE);
    expect(failures).toMatchObject([{ kind, status, provider, message: expect.stringMatching(message) as string }]);
    expect(server.opened).toHaveLength(attempts);
  });

  it('says all where a failure passes', async () => {
    Object.defineProperty(server.faults, 'status', { get: () => (server.opened.length === 1 ? 429 : undefined) });
    expect([await say(FIVE), failures]).toEqual([FIVE, []]);
    expect(server.opened).toHaveLength(2);
  });

  it.each(errors)('names the message %j', async (error, kind, message, attempts) => {
    server.faults.instead = Array.from({ length: 3 }, () => error);
    await say(FIVE);
    expect(failures).toMatchObject([{ kind, provider, message: expect.stringMatching(message) as string }]);
    expect(server.faults.instead).toHaveLength(3 - attempts);
  });

  it.each(['no JSON', 'null', '7', '"sound"'])('takes %s for no sound', async (garbage) => {
    server.faults.instead = [garbage];
    expect(await say(FIVE)).toEqual(FIVE);
    server.faults.instead = [garbage, garbage, garbage];
    await say(FIVE);
    expect(failures).toMatchObject([{ kind: 'payload', message: expect.stringContaining('sent something that is no sound') as string }]);
  });

  it.each([
    [1008, 'refused', 1],
    [1011, 'connection_lost', 3],
    [1000, 'connection_lost', 3],
  ])('names a close with %d', async (code, kind, attempts) => {
    server.faults.closeCodes = [code, code, code];
    await say(FIVE);
    expect(failures).toMatchObject([{ kind, provider }]);
    expect(server.opened).toHaveLength(attempts);
  });

  it('takes a close with 1008 for a limit of the connection where that has spoken', async () => {
    await say(FIVE);
    server.faults.closeCodes = [1008];
    expect(await say(FIVE)).toEqual(FIVE);
    expect([server.opened.length, failures]).toEqual([2, []]);
  });

  it('gives a silent provider up, and its connection', async () => {
    server.faults.silent = true;
    const saying = say(FIVE);
    await expect.poll(() => server.opened[0]?.messages.length ?? 0).toBeGreaterThan(0);
    limits.tick(SILENT_MS);
    await saying;
    expect(failures).toMatchObject([{ kind: 'unreachable', slow: true, message: expect.stringContaining(`${SILENT_MS} ms`) as string }]);
    server.faults.silent = false;
    expect(await say([FIRST])).toEqual([FIRST]);
    expect(server.opened).toHaveLength(2);
  });

  it('reaches no address that the guard forbids, and cannot reach one where nothing listens', async () => {
    const strict = openEgress();
    await say(FIVE, voiceAt(server.url, { through: strict }));
    strict.close();
    expect(server.opened).toEqual([]);
    await say(FIVE, voiceAt(`http://127.0.0.1:${await freePort()}`));
    expect(failures).toMatchObject([
      { kind: 'refused', message: expect.stringContaining("can't be called") as string },
      { kind: 'unreachable', message: expect.stringContaining('ECONNREFUSED') as string },
    ]);
  });

  describe('with a fallback', () => {
    const other = CASES.find((each) => each.endpoint.provider !== provider)!;
    let second: SpeakingServer;
    beforeEach(async () => void (second = await startSpeakingServer(other.api)));
    afterEach(() => second.stop());

    const both = (): SpeechSynthesizer => synthesizerOf([sourceAt(server.url), sourceAt(second.url, { at: other })], { clock });

    it.each([
      ['refuses', { status: 401 }],
      ['is silent', { silent: true }],
    ])('is replaced where it %s', async (_how, faults) => {
      Object.assign(server.faults, faults);
      const fallback = both();
      const saying = say(FIVE, fallback);
      if (server.faults.silent === true) {
        await expect.poll(() => server.opened[0]?.messages.length ?? 0).toBeGreaterThan(0);
        limits.tick(LATE_MS);
      }
      expect(await saying).toEqual(FIVE);
      expect(failures).toEqual([]);
      await fallback.close();
    });

    it('is continued from the word on in which it breaks off', async () => {
      // The connection ends after four pieces of the second sentence.
      server.faults.dropAfter = [Math.ceil((FIRST.length + 1) / 7) + 4];
      const fallback = both();
      const [, ...said] = await say(FIVE.slice(0, 3), fallback);
      const rest = said.join(' ');
      // The speed of the first sentence decides; the word that was cut off may be said twice.
      expect(rest.endsWith(THIRD)).toBe(true);
      for (const word of SECOND.split(' ')) expect(rest).toContain(word);
      expect(failures).toEqual([]);
      if (!other.continuesOverHttp) expect(second.opened).toHaveLength(1);
      else expect(second.requests[0]?.body['previous_text']).toMatch(FIRST);
      await fallback.close();
    });
  });
});
