/** One organisation sends what takes long to read; the others don't notice. The facade runs in a process of its own, and is measured there. */
import { setTimeout } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { parseMegabyteMs } from '../../support/machine-speed.ts';
import { hostileBodies, type HostileBody } from '../../support/hostile-bodies.ts';
import { spawnRole } from '../../support/role-process.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { organization, startFacade } from './facade.ts';

/** What a request may add to the longest turn of the event loop, in megabytes of JSON that are parsed meanwhile: some 100 ms. */
const MOST_MEGABYTES = 18;
/** Characters of an answer. */
const MOST_ANSWERED = 400_000;
const BODIES = 1000;
const AT_ONCE = 8;

const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));

it('a thousand hostile bodies delay no other request', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { kubeconfigs } = await controlPlane();
  const api = spawnRole('api', {
    DATABASE_URL: facade.database.url,
    KUBECONFIG: kubeconfigs.api,
    PARLEY_API_PORT: String(port),
    PARLEY_LOG_LEVEL: 'error',
    LIVEKIT_URL: 'ws://127.0.0.1:9',
    LIVEKIT_API_KEY: 'none',
    LIVEKIT_API_SECRET: 'x'.repeat(32),
    PARLEY_RATE_LIMIT_KEY_PER_SECOND: '0',
    PARLEY_RATE_LIMIT_CALLS_PER_SECOND: '0',
  });
  await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200));
  const agentId = await ordinaryRequests(url);
  const reader = new AbortController();
  const reading = readHealth(url, reader.signal);
  await api.longestTurn();
  await setTimeout(1000);
  const idle = await api.longestTurn();
  const tooLong: string[] = [];
  const statuses = new Map<string, number>();
  const bodies = function* (): Generator<HostileBody> {
    for (let seed = 0; ; seed += 1) yield* hostileBodies(seed);
  };
  let sent: HostileBody[] = [];
  let total = 0;
  for (const body of bodies()) {
    if (total === BODIES) break;
    total += 1;
    sent.push(body);
    if (sent.length < AT_ONCE && total < BODIES) continue;
    // What holds the process up does so each time; a collection of garbage does not.
    let [stallMs, limitMs] = [Infinity, 0];
    for (let attempt = 0; attempt < 3 && stallMs > limitMs; attempt += 1) {
      await Promise.all(
        sent.map(async (each) => {
          const { status, text } = await send(url, each, agentId);
          statuses.set(each.name, status);
          expect(text.length, each.name).toBeLessThan(MOST_ANSWERED);
        }),
      );
      stallMs = await api.longestTurn();
      limitMs = idle + MOST_MEGABYTES * parseMegabyteMs();
    }
    if (stallMs > limitMs) tooLong.push(`${sent.map(({ name }) => name).join(', ')}: ${stallMs} ms, more than ${limitMs}`);
    sent = [];
  }
  reader.abort();
  expect(await reading).toBeGreaterThan(10);
  // Whatever they are answered, it is an answer.
  expect([...statuses].filter(([, status]) => status >= 500)).toEqual([]);
  expect(tooLong).toEqual([]);
});

/** Also brings in what Node compiles and loads when it is first needed. @returns the id of an agent */
async function ordinaryRequests(url: string): Promise<string> {
  const body = JSON.stringify({
    agent_name: 'ordinary',
    llm: { model_name: 'm' },
    stt: { provider: 'deepgram' },
    tts: { provider: 'elevenlabs' },
  });
  const response = await send(url, { name: 'ordinary', method: 'POST', path: '/v2/ai-agents', body }, '');
  expect(response.status).toBe(201);
  const { ai_agent_id: id } = JSON.parse(response.text) as { readonly ai_agent_id: string };
  for (const each of hostileBodies(-1)) await send(url, { ...each, body: '{"agent_name":""}' }, id);
  return id;
}

async function send(
  url: string,
  { method, path, body }: HostileBody,
  agentId: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url + path.replace(':agent', agentId), {
    method,
    headers: { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' },
    body,
  });
  return { status: response.status, text: await response.text() };
}

/** @returns how often it was answered */
async function readHealth(url: string, signal: AbortSignal): Promise<number> {
  let answers = 0;
  while (!signal.aborted) {
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    answers += 1;
    await setTimeout(20);
  }
  return answers;
}
