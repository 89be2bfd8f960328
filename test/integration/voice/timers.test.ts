/** Calls end because nobody is there, or can be heard. When a silence or the longest duration ends a call is in test/simulated-calls. */
import { spawn, type ChildProcess } from 'node:child_process';

import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import { repositoryRoot } from '../../../local-stack/repository.ts';
import { createRooms } from '../../../calls/rooms.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage } from './stage.ts';

afterAll(dispose);
const stage = suiteFixture(openStage);

/** The silence is all that ends these calls, and nothing is said into it. */
const silent = { endAfterSilence: '20s', silenceReminder: { mode: 'Never' } };

/** Starts a caller who says nothing, into a microphone that is on. */
function callerProcess({ url, token }: { readonly url: string; readonly token: string }): ChildProcess {
  const script = `
    import { TestCaller } from './test/support/test-caller.ts';
    await new TestCaller().join({ url: process.env.URL, token: process.env.TOKEN });`;
  const env = { ...process.env, URL: url, TOKEN: token };
  return spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: repositoryRoot(), env, stdio: 'ignore' });
}

describe.concurrent('time', () => {
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
