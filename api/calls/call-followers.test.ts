import { describe, expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import type { CallRecord, CallStore, LiveEvent } from '../../store/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { CallFollowers } from './call-followers.ts';
import { EventStream } from './event-stream.ts';

const call = { org: 'acme', id: 'call_1', room: 'call-1', status: 'ongoing' } as CallRecord;

/** Makes followers of one call, whose row and whose job are the test's. */
function someFollowers() {
  const clock = new FakeClock();
  const job: { record: CallRecord | undefined; watched: number; publish: (events: readonly LiveEvent[]) => void } = {
    record: call,
    watched: 0,
    publish: () => undefined,
  };
  const store = {
    calls: { get: async () => job.record },
    log: { after: async () => [] },
    events: {
      listen: ({ onEvents }: Parameters<CallStore['events']['listen']>[0]) => {
        job.publish = (events) => onEvents(call.id, events);
        return { stop: async () => undefined };
      },
    },
  } as unknown as ConstructorParameters<typeof CallFollowers>[0]['store'];
  const rooms = { watch: async () => (job.watched += 1) > 0 };
  const followers = new CallFollowers({ store, rooms, clock, logger: createLogger({ role: 'test', level: 'silent' }) });
  const follow = (refusal: () => Promise<string | undefined> = async () => undefined) => {
    const stream = new EventStream({ clock });
    let text = '';
    stream.body.on('data', (part: Buffer) => (text += part.toString()));
    void followers.follow({ call, stream, after: 0, refusal });
    return { stream, text: () => text };
  };
  return { clock, job, followers, follow };
}

describe('followers of a call', () => {
  it('get a comment every 15 seconds, and no more once their key is refused', async () => {
    const { clock, follow } = someFollowers();
    let refused: string | undefined;
    const { stream, text } = follow(async () => refused);
    await clock.advance(15_000);
    expect(text().match(/^: still here$/gm)).toHaveLength(1);
    refused = 'the API key is revoked';
    await clock.advance(15_000);
    expect(text()).toContain('event: closed\ndata: {"reason":"key_refused","message":"the API key is revoked"}\n\n');
    expect(stream.signal.aborted).toBe(true);
  });

  it('go on while Postgres can not say whether the key still counts', async () => {
    const { clock, follow } = someFollowers();
    const { stream } = follow(async () => Promise.reject(new Error('away')));
    await clock.advance(60_000);
    expect(stream.signal.aborted).toBe(false);
  });

  it('are told when their call is deleted', async () => {
    const { clock, job, follow } = someFollowers();
    const { text } = follow();
    await clock.advance(1);
    job.record = undefined;
    await clock.advance(2_000);
    expect(text()).toMatch(/event: closed\ndata: \{"reason":"call_deleted",/);
  });

  it('have their job told every ten seconds, once however many they are, and no longer than they stay', async () => {
    const { clock, job, follow } = someFollowers();
    const all = [follow(), follow()];
    await clock.advance(1);
    // Whoever comes gets the state at once.
    expect(job.watched).toBe(2);
    await clock.advance(30_000);
    expect(job.watched).toBe(5);
    for (const { stream } of all) stream.body.destroy();
    await clock.advance(60_000);
    expect(job.watched).toBe(5);
  });

  it('are 100 of an organisation at most', async () => {
    const { clock, followers, follow } = someFollowers();
    const all = Array.from({ length: 100 }, () => follow());
    expect(() => followers.admit('acme')).toThrow(/100 calls/);
    followers.admit('globex');
    all[0]!.stream.body.destroy();
    await clock.advance(1);
    followers.admit('acme');
  });

  it('hold up nobody else by being slow', async () => {
    const { clock, job, follow } = someFollowers();
    const [slow, quick] = [follow(), follow()];
    await clock.advance(1);
    slow.stream.body.pause();
    for (let count = 0; count < 300; count += 1) {
      job.publish([{ type: 'words', id: String(count), role: 'user', text: 'a'.repeat(1_000), final: true }]);
      await clock.advance(0);
    }
    expect([slow.stream.signal.aborted, quick.stream.signal.aborted]).toEqual([true, false]);
    expect(quick.text()).toContain('"line":"299"');
  });
});
