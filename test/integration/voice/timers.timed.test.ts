/** Calls that end because it is time: silence, the longest duration, and a user who can't be heard. */
import { spawn, type ChildProcess } from 'node:child_process';

import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import { repositoryRoot } from '../../../local-stack/repository.ts';
import { createRooms } from '../../../voice/calls/rooms.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage } from './stage.ts';

afterAll(dispose);
const stage = suiteFixture(openStage);

/** The silence is all that ends these calls, and nothing is said into it. */
const silent = { endAfterSilence: '20s', silenceReminder: { enabled: false } };

/** Says nothing, into a microphone that is on. */
function callerProcess({ url, token }: { readonly url: string; readonly token: string }): ChildProcess {
  const script = `
    import { TestCaller } from './test/support/test-caller.ts';
    await new TestCaller().join({ url: process.env.URL, token: process.env.TOKEN });`;
  const env = { ...process.env, URL: url, TOKEN: token };
  return spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: repositoryRoot(), env, stdio: 'ignore' });
}

describe.concurrent('time', () => {
  it('ends a silent call, and asks before', async () => {
    const call = await stage.joined({ spec: { language: 'de-DE', welcomeMessage: 'Hello.', call: { endAfterSilence: '10s' } } });
    await call.caller.hears('Hello.');
    await call.caller.hears('Sind Sie noch da?');
    const over = await call.becomes({ status: 'ended', finishReason: 'inactivity_timeout' });
    expect(over.endedAt!.getTime() - over.startedAt!.getTime()).toBeGreaterThan(9_500);
    // The caller is sent out, and hears nothing in the meantime.
    await eventually(() => expect(call.caller.room.isConnected).toBe(false));
    const said = await call.messages();
    expect(said.map(({ role, content }) => [role, content])).toEqual([
      ['agent', 'Hello.'],
      ['agent', 'Sind Sie noch da?'],
    ]);
    const [welcomed, asked] = said.map(({ spokenAt }) => spokenAt.getTime());
    expect(asked! - welcomed!).toBeGreaterThan(4_500);
    expect(over.endedAt!.getTime() - asked!).toBeGreaterThan(4_500);
    // The line comes when everything is written down.
    await eventually(() =>
      expect(call.lines().find(({ msg }) => msg === 'the call is over')).toMatchObject({
        reason: 'inactivity_timeout',
        agent: 'receptionist',
      }),
    );
  });

  it('goes on when the user answers, and asks again in the next silence', async () => {
    const silenceReminder = { message: 'Still there, {{name}}?' };
    const call = await stage.joined({ spec: { call: { endAfterSilence: '20s', silenceReminder } }, dynamicData: { name: 'Ada' } });
    await call.caller.hears('Still there, Ada?');
    await eventually(async () => expect(await call.messages()).toHaveLength(1));
    await call.caller.speak();
    const answered = await call.caller.hears('I heard: hello');
    await call.caller.hears('Still there, Ada?', { since: answered });
    await call.becomes({ finishReason: 'inactivity_timeout' });
    const said = await call.messages();
    expect(said.map(({ content }) => content)).toEqual(['Still there, Ada?', 'hello', 'I heard: hello', 'Still there, Ada?']);
    expect(said[3]!.spokenAt.getTime() - said[2]!.spokenAt.getTime()).toBeGreaterThan(9_500);
    // The model knows what the user has answered to.
    expect(JSON.stringify(call.provider.requests('chat')[0]?.messages)).toContain('Still there, Ada?');
  });

  it('counts silence again from its beginning whenever somebody speaks', async () => {
    const call = await stage.joined({ spec: { call: silent } });
    const { startedAt } = await call.becomes({ status: 'ongoing' });
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    // A word that isn't understood is nevertheless somebody who is there.
    call.provider.heard(() => '');
    await call.caller.speak(600);
    const over = await call.becomes({ finishReason: 'inactivity_timeout' });
    expect(over.endedAt!.getTime() - startedAt!.getTime()).toBeGreaterThan(26_500);
    // Where nothing is asked the call ends without a word.
    expect(call.caller.tones()).toEqual([]);
  });

  it('lets no silence pass while the agent speaks or the model thinks', async () => {
    const call = await stage.joined({ spec: { call: silent } });
    const { startedAt } = await call.becomes({ status: 'ongoing' });
    // Six seconds of thinking, and eight of speech: silence begins behind both.
    call.provider.chat(() => ({ text: 'Well.', delayMs: 6_000 }));
    call.provider.speech(() => ({ msPerCharacter: 1_600 }));
    await call.caller.speak(800);
    const over = await call.becomes({ finishReason: 'inactivity_timeout' });
    expect(call.caller.heardFor('Well.')).toBeGreaterThan(7_000);
    expect(over.endedAt!.getTime() - startedAt!.getTime()).toBeGreaterThan(33_000);
  });

  it('lets no silence pass before the welcome message is heard', async () => {
    const call = await stage.call({ spec: { welcomeMessage: 'Hello.', call: { endAfterSilence: '10s' } } });
    call.provider.speech(({ input }) => ({ delayMs: input === 'Hello.' ? 6_500 : 0 }));
    await call.join();
    await call.becomes({ status: 'ended', finishReason: 'inactivity_timeout' });
    const [welcomed, asked] = (await call.messages()).map(({ spokenAt }) => spokenAt.getTime());
    expect(asked! - welcomed!).toBeGreaterThan(4_500);
  });

  it('ends a silent call whose user listens to nobody', async () => {
    const call = await stage.call({ spec: { welcomeMessage: 'Hello.', call: { endAfterSilence: '10s' } } });
    const { url, token } = await call.open();
    await call.caller.room.connect(url, token, { autoSubscribe: false, dynacast: false });
    await call.caller.publish();
    expect((await call.becomes({ status: 'ended' })).finishReason).toBe('inactivity_timeout');
  });

  it('closes the session where a user leaves who has listened to nobody', async () => {
    const call = await stage.call({ spec: { welcomeMessage: 'Hello.' } });
    const { url, token } = await call.open();
    await call.caller.room.connect(url, token, { autoSubscribe: false, dynacast: false });
    await call.caller.publish();
    await call.becomes({ status: 'ongoing' });
    await call.caller.leave();
    await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
    expect(call.lines().filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('ends the longest call, in the middle of a word', async () => {
    const call = await stage.joined({ spec: { welcomeMessage: 'And so on.', call: { maxDuration: '30s', endAfterSilence: '600s' } } });
    call.provider.speech(() => ({ msPerCharacter: 6_000 }));
    const over = await call.becomes({ status: 'ended', finishReason: 'maximum_duration_exceeded' });
    const lasted = over.endedAt!.getTime() - over.startedAt!.getTime();
    // By Postgres' clock, which learns of the begin as late as the statement arrives.
    expect(lasted).toBeGreaterThanOrEqual(29_000);
    // Saying it takes a minute.
    expect(call.caller.heardFor('And so on.')).toBeLessThan(60_000);
    expect(await call.messages()).toMatchObject([{ role: 'agent', interrupted: true }]);
  });

  it('ends a call that no user joins, before the media server closes its room', async () => {
    const impatient = { agentName: 'impatient', joinSeconds: 5 };
    await stage.startRole({
      LIVEKIT_AGENT_NAME: impatient.agentName,
      PARLEY_CALL_JOIN_SECONDS: String(impatient.joinSeconds),
      PARLEY_VOICE_IDLE_PROCESSES: '1',
    });
    const call = await stage.call();
    await createRooms({ ...stage.server, ...impatient }).open(call.id);
    expect((await call.becomes({ status: 'error' })).finishReason).toBe('user_connection_failure');
  });

  it('speaks to a user without a microphone, and waits for it as long as it takes to allow one', async () => {
    const call = await stage.call({ spec: { welcomeMessage: 'Can you hear me?', call: { endAfterSilence: '600s' } } });
    await call.join({ microphone: false });
    await call.caller.hears('Can you hear me?');
    await call.becomes({ status: 'ongoing' });
    const over = await call.becomes({ status: 'error', finishReason: 'no_audio_input' });
    expect(over.endedAt!.getTime() - over.createdAt.getTime()).toBeGreaterThan(29_000);
  });

  it('ends a silent call for want of a microphone, where that is why', async () => {
    const call = await stage.call({ spec: { call: { ...silent, endAfterSilence: '10s' } } });
    await call.join({ microphone: false });
    expect((await call.becomes({ status: 'error' })).finishReason).toBe('no_audio_input');
  });

  it('ends a silent call for want of the user, where the client was killed', async ({ onTestFinished }) => {
    const call = await stage.call({ spec: { call: { ...silent, endAfterSilence: '10s' } } });
    const client = callerProcess(await call.open());
    onTestFinished(() => void client.kill('SIGKILL'));
    await call.becomes({ status: 'ongoing' });
    client.kill('SIGKILL');
    expect((await call.becomes({ status: 'error' })).finishReason).toBe('user_connection_failure');
  });
});
