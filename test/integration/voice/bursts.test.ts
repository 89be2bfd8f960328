/** Makes more calls at once over REST than a voice server can take. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { startProviderServer } from '../../support/provider-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { serveAgent } from '../api/calls-support.ts';
import { startFacade } from '../api/facade.ts';
import { openStage } from './stage.ts';

const CAPACITY = 4;

afterAll(dispose);
const stage = suiteFixture(() =>
  openStage({ PARLEY_VOICE_CALLS: String(CAPACITY), PARLEY_VOICE_IDLE_PROCESSES: '1', PARLEY_VOICE_DRAIN_MS: '1000' }),
);
const facade = suiteFixture(() => startFacade({ database: { url: stage.env['DATABASE_URL']! }, calls: { mediaServer: stage.server } }));
const provider = suiteFixture(startProviderServer);
let key: string;

beforeAll(async () => {
  const { org, store } = stage;
  await serveAgent(store, org, 'receptionist', {
    agent: {
      llm: { provider: 'openai_compatible', model: 'm', baseURL: provider.url, temperature: '0' },
      speechToText: { provider: 'openai_compatible', model: 'm', baseURL: provider.url },
      textToSpeech: { provider: 'openai_compatible', model: 'm', baseURL: provider.url, voice: {}, temperature: '0.5' },
    },
  });
  key = (await store.apiKeys.create({ org, name: 'bursts', permissions: ['calls:create', 'calls:read', 'calls:write'], expirationDays: 1 }))
    .apiKey;
});

const reporting = () =>
  eventually(async () => expect((await stage.store.voiceServers.takePlace(stage.server.agentName, stage.org)).reported).toBe(true));
const create = () => facade.call('POST', '/v1/calls/create-web-call', { key, body: { ai_agent_id: 'receptionist' } });

it('answers 503 with Retry-After to those that find no room, and makes no call for them', async () => {
  await reporting();
  // The report after the next gives back the place that was taken to see it.
  let made = 0;
  const refused = await eventually(async () => {
    const answers = await Promise.all(Array.from({ length: 3 * CAPACITY }, create));
    const others = answers.filter(({ status }) => status !== 201);
    made += answers.length - others.length;
    expect(made).toBeGreaterThan(0);
    expect(others).not.toEqual([]);
    return others;
  });
  for (const { status, headers, body } of refused) {
    expect([status, body.error]).toEqual([503, 'unavailable']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await facade.call('GET', '/v1/calls', { key })).body.total_count).toBe(made);
});

it('takes a call again once others have ended', async () => {
  // The server is full, whatever the test before has left.
  await eventually(async () => {
    const { body } = await create();
    expect(body.message).toContain('as many calls as they may have');
  });
  // All calls end: a slow job may lose its place before it comes, and then there is one call more than the server takes.
  const { calls } = (await facade.call('GET', '/v1/calls', { key })).body;
  for (const { _id } of calls) expect((await facade.call('POST', `/v1/calls/${_id}/end`, { key })).status).toBe(200);
  await eventually(async () => expect((await create()).status).toBe(201));
});
