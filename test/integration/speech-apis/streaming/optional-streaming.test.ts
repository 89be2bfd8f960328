/** Servers with OpenAI's protocol stream if they can, and a call begins as soon without. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { systemClock, type Clock } from '../../../../platform/clock.ts';
import { openEgress, type TestEgress } from '../../../support/open-egress.ts';
import { createProviders, type CreateProvidersOptions } from '../../../../voice/providers/index.ts';
import { STREAMING_ATTEMPT_MS } from '../../../../voice/providers/stt/streaming/try-streaming.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { KEY } from '../speech-apis.ts';
import { realtime } from './openai-api.ts';
import { startStreamingServer, type FakeApi, type StreamingServer } from './streaming-server.ts';

/** This API never confirms a session. */
const silent: FakeApi = { ...realtime, session: () => ({ audio: () => undefined, text: () => undefined }) };
/** This API takes a session, and then says that it was none. */
const refusing: FakeApi = {
  ...realtime,
  session: ({ send }) => ({
    audio: () => undefined,
    text: () => send({ type: 'error', error: 'Model not validated.', code: 'processing_error' }),
  }),
};

let server: StreamingServer;
let egress: TestEgress;
/** The test moves this clock. */
let limits: FakeClock;
let clock: Clock;
/** Each clock is an hour later than the one before, so that it remembers nothing of a server that had the same port. */
let hours = 0;

beforeEach(() => {
  limits = new FakeClock();
  hours += 1;
  const offset = hours * 3_600_000;
  clock = { ...systemClock, monotonic: () => systemClock.monotonic() + offset, after: (ms, callback) => limits.after(ms, callback) };
  egress = openEgress({ allowCidrs: ['127.0.0.0/8'], clock });
});
afterEach(async () => {
  egress.close();
  await server.stop();
});

/** Tells whether a call that begins now streams. */
async function streamsAt(baseURL: string): Promise<boolean | undefined> {
  const lines: { readonly stt?: readonly { readonly streams: boolean }[] }[] = [];
  const endpoint = { provider: 'openai_compatible', baseURL, apiKeySecretRef: { name: 'keys', key: 'key' } };
  const providers = await createProviders({
    org: 'acme',
    agent: {
      language: 'en-US',
      llm: { model: 'm', temperature: '0', ...endpoint },
      speechToText: endpoint,
      textToSpeech: { voice: {}, temperature: '0.5', ...endpoint },
    } as unknown as CreateProvidersOptions['agent'],
    keys: { read: async () => KEY },
    egress,
    clock,
    defaults: [],
    logger: pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) }),
    env: {},
  });
  await providers.close();
  return lines.find(({ stt }) => stt !== undefined)?.stt?.[0]?.streams;
}

describe('a server that may stream', () => {
  it.each([
    ['streams, which is remembered', realtime, undefined, true, 1],
    ['has no such address', realtime, 404, false, 1],
    ['has no WebSocket there, and forbids it', realtime, 403, false, 1],
    ['does not confirm the session', silent, undefined, false, 1],
    ['refuses the session', refusing, undefined, false, 1],
    ['refuses the key, as the stream will say', realtime, 401, true, 2],
    ['fails at the moment', realtime, 503, false, 2],
  ] as const)('%s', async (_what, api, status, streaming, attempts) => {
    server = await startStreamingServer(api);
    server.faults.status = status;
    const first = streamsAt(`${server.url}/v1`);
    if (api === silent) {
      await expect.poll(() => server.opened.length).toBe(1);
      limits.tick(STREAMING_ATTEMPT_MS);
    }
    expect(await first).toBe(streaming);
    expect(await streamsAt(`${server.url}/v1`)).toBe(streaming);
    expect(server.opened).toHaveLength(attempts);
  });

  it('may stream again once it can be reached', async () => {
    server = await startStreamingServer(realtime);
    await server.stop();
    expect(await streamsAt(`${server.url}/v1`)).toBe(false);
    server = await startStreamingServer(realtime, { port: Number(new URL(server.url).port) });
    expect(await streamsAt(`${server.url}/v1`)).toBe(true);
  });
});
