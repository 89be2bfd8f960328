/** Calls that end because it is time: silence, the longest duration, and a user who can't be heard. When is in `timers.timed.test.ts`. */
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
    await call.becomes({ status: 'ended', finishReason: 'inactivity_timeout' });
    // The caller is sent out, and hears nothing in the meantime.
    await eventually(() => expect(call.caller.room.isConnected).toBe(false));
    const said = await call.messages();
    expect(said.map(({ role, content }) => [role, content])).toEqual([
      ['agent', 'Hello.'],
      ['agent', 'Sind Sie noch da?'],
    ]);
    // The line comes when everything is written down.
    await eventually(() =>
      expect(call.lines().find(({ msg }) => msg === 'the call is over')).toMatchObject({
        reason: 'inactivity_timeout',
        agent: 'receptionist',
      }),
    );
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
    await call.becomes({ status: 'ended', finishReason: 'maximum_duration_exceeded' });
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
