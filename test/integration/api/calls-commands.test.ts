/** Follows and steers calls from the command line, with a job that takes the commands from the table. */
import { describe, expect, it, onTestFinished } from 'vitest';

import { CallLifecycle } from '../../../calls/lifecycle.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { CallRef } from '../../../store/index.ts';
import { parleyHere } from '../../support/parley-command.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { registerCall } from '../store/calls-support.ts';
import { realMediaServer, serveCommands } from './calls-support.ts';
import { organization, startFacade } from './facade.ts';

const server = suiteFixture(realMediaServer);
const facade = suiteFixture(() => startFacade({ calls: { mediaServer: server } }));
const org = suiteFixture(() => organization(facade));

const lifecycle = (): CallLifecycle => new CallLifecycle({ calls: facade.store.calls.calls, clock: systemClock });
const parley = (key: string, ...args: readonly string[]) => parleyHere(args, { PARLEY_URL: facade.url, PARLEY_API_KEY: key });

async function liveCall(change: Parameters<typeof registerCall>[2] = {}): Promise<CallRef> {
  await facade.store.organizations.limitLiveCalls(org.name, 1_000);
  const ref = await registerCall(facade.store, org.name, change);
  await lifecycle().start({ ...ref, jobId: 'job' });
  return ref;
}

/** Takes commands of a call until the test is over. @returns what was taken */
function serve(ref: CallRef): readonly unknown[] {
  const { taken, stop } = serveCommands(facade.store, ref);
  onTestFinished(stop);
  return taken;
}

describe('parley calls', () => {
  it('watches a call until it is over', async () => {
    const ref = await liveCall();
    const { log } = facade.store.calls;
    const spoken = { spokenAt: new Date(0), sources: null } as const;
    await log.add(ref, {
      messages: [
        { ...spoken, seq: 1, role: 'agent', content: 'Hello.\nIt is me.', interrupted: true },
        { ...spoken, seq: 2, role: 'user', content: 'Hi.', interrupted: false },
      ],
      toolCalls: [{ seq: 3, name: 'look_up', arguments: {}, result: '', failed: true, beganAt: new Date(0), durationMs: 12 }],
    });
    await lifecycle().end({ ...ref, reason: 'user_ended_call' });
    const watched = await parley(org.key, 'calls', 'watch', ref.id);
    expect(watched.stdout.split('\n').slice(0, 3)).toEqual([
      'agent  Hello. It is me. —',
      'user   Hi.',
      'tool   look_up failed after 12 ms',
    ]);
    expect([watched.code, watched.stdout]).toMatchObject([0, expect.stringMatching(/\nended: user_ended_call after \d+\.\d s\n$/)]);
    const lines = (await parley(org.key, 'calls', 'watch', ref.id, '-o', 'json')).stdout.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { readonly event: string }).event)).toEqual(['message', 'message', 'tool_call', 'end']);
  });

  it('sends commands, and says why one is refused', async () => {
    const ref = await liveCall({ callType: 'phone_call', direction: 'inbound', toNumber: '+15550100' });
    const taken = serve(ref);
    for (const args of [
      ['say', ref.id, 'One moment.', '--interrupt'],
      ['instruct', ref.id, 'Be brief.'],
      ['mute', ref.id],
      ['unmute', ref.id],
      ['transfer', ref.id, '+15550199', '--warm'],
    ]) {
      const sent = await parley(org.key, 'calls', ...args);
      expect([sent.code, sent.stdout, sent.stderr]).toEqual([0, expect.stringMatching(/^cmd_\S+ done\n$/), '']);
    }
    expect(taken).toEqual([
      ['say', { text: 'One moment.', interrupt: true }],
      ['instructions', { text: 'Be brief.' }],
      ['mute', { muted: true }],
      ['mute', { muted: false }],
      ['transfer', { to: '+15550199', mode: 'warm' }],
    ]);
    const shown = await parley(org.key, 'calls', 'mute', ref.id, '-o', 'json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ kind: 'mute', status: 'done' });
    await lifecycle().end({ ...ref, reason: 'user_ended_call' });
    const late = await parley(org.key, 'calls', 'say', ref.id, 'Hello?');
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('the call is over')]);
    const unpermitted = await parley(await org.keyWith('calls:write'), 'calls', 'mute', ref.id);
    expect([unpermitted.code, unpermitted.stderr]).toEqual([1, expect.stringContaining('calls:control')]);
  });

  it('says which call there is not', async () => {
    const unknown = await parley(org.key, 'calls', 'watch', 'call_x');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('Call not found')]);
  });
});
