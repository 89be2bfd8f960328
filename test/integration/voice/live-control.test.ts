/** Steers a real call from outside while it goes on, over REST. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { now } from '../../support/test-caller.ts';
import { startFacade, type Facade, type RestAnswer } from '../api/facade.ts';
import { openStage, type StagedCall, type VoiceStage } from './stage.ts';

const WELCOME = 'Good morning.';

let stage: VoiceStage;
let facade: Facade;
let key: string;

beforeAll(async () => {
  stage = await openStage();
  facade = await startFacade({ database: { url: stage.env['DATABASE_URL']! }, calls: { mediaServer: stage.server } });
  const permissions = ['calls:read', 'calls:control', 'calls:listen'] as const;
  ({ apiKey: key } = await stage.store.apiKeys.create({ org: stage.org, name: 'desk', permissions, expirationDays: 1, userId: 'ada' }));
});
afterAll(async () => {
  await facade.close();
  await stage.close();
  await dispose();
});

const post = (call: StagedCall, command: string, body: object): Promise<RestAnswer> =>
  facade.call('POST', `/v1/calls/${call.id}/${command}`, { key, body });

/** Returns a call whose welcome message was heard, and whose agent answers everything. */
async function greeted(answer = 'Nine hundred.'): Promise<StagedCall> {
  // Words behind a hole in the sound still belong to the same turn.
  const call = await stage.call({ spec: { welcomeMessage: WELCOME, turnDetection: { endOfSpeechDelay: '3s' } } });
  call.provider.chat(() => answer);
  call.provider.speech(() => ({ msPerCharacter: 100 }));
  await call.join();
  await call.caller.hears(WELCOME);
  await call.becomes({ status: 'ongoing' });
  return call;
}

const transcript = async (call: StagedCall): Promise<readonly string[]> =>
  (await call.messages()).map(({ role, content }) => `${role}: ${content}`);

describe.concurrent('a call that goes on', () => {
  it('has its agent say what a supervisor writes, and its model know what only the model is told', async () => {
    const call = await greeted();
    const said = 'A colleague joins us in a moment.';
    const answer = await post(call, 'say', { text: said });
    expect([answer.status, answer.body]).toMatchObject([200, { kind: 'say', status: 'done', created_by_user_id: 'ada' }]);
    await call.caller.hears(said);
    await eventually(async () => expect(await transcript(call)).toContain(`agent: ${said}`));
    const told = 'Offer a discount of 10 percent.';
    expect((await post(call, 'instructions', { text: told })).status).toBe(200);
    expect(call.provider.requests('chat')).toEqual([]);
    await call.says('what does it cost');
    await call.caller.hears('Nine hundred.');
    const request = call.provider.requests('chat').at(-1);
    expect(request?.system).toContain(told);
    // The model sees what was said in its name.
    expect(JSON.stringify(request?.body)).toContain(said);
    expect((await transcript(call)).join('\n')).not.toContain(told);
    expect(call.lines()).toContainEqual(expect.objectContaining({ msg: 'carried out a command', kind: 'say', user: 'ada' }));
  });

  it('has a muted agent neither speak nor answer, while what is said is written down', async () => {
    const call = await greeted();
    expect((await post(call, 'mute', { muted: true })).status).toBe(200);
    const refused = await post(call, 'say', { text: 'Hello?' });
    expect([refused.status, refused.body.message]).toEqual([409, 'the agent is muted']);
    const silentSince = now();
    await call.says('is anybody there');
    await eventually(async () => expect(await transcript(call)).toContain('user: is anybody there'));
    expect((await post(call, 'mute', { muted: false })).status).toBe(200);
    await call.says('what does it cost');
    await call.caller.hears('Nine hundred.', { since: silentSince });
    // Nothing else was said before, and the first question was not answered by itself.
    expect(call.provider.requests('chat').map(({ lastUser }) => lastUser)).not.toContain('is anybody there');
    expect(JSON.stringify(call.provider.requests('chat').at(-1)?.body)).toContain('is anybody there');
    expect(call.caller.tones(silentSince).length).toBeGreaterThan(0);
    const { body } = await facade.call('GET', `/v1/calls/${call.id}/commands`, { key });
    expect(body.data.map((each: { kind: string; status: string }) => [each.kind, each.status])).toEqual([
      ['mute', 'done'],
      ['say', 'refused'],
      ['mute', 'done'],
    ]);
  });
});
