import { EventEmitter } from 'node:events';

import { RoomEvent, type Room } from '@livekit/rtc-node';
import { expect, it } from 'vitest';

import { createLogger } from '../../../platform/logging.ts';
import type { CallRecord } from '../../../store/index.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { Transfers, type TransferOptions } from './index.ts';

const caller = { identity: 'caller', trackPublications: new Map() };

class SomeRoom extends EventEmitter {
  readonly remoteParticipants = new Map([['PA_1', caller]]);
  readonly localParticipant = { identity: 'agent', trackPublications: new Map() };

  leaves(): void {
    this.remoteParticipants.clear();
    this.emit(RoomEvent.ParticipantDisconnected, caller);
  }
}

const never = new Promise<never>(() => undefined);

function transfers({ room, gateway, deafen }: { room: SomeRoom; gateway: Partial<TransferOptions['gateway']>; deafen?: () => void }) {
  const clock = new FakeClock();
  const subject = new Transfers({
    room: room as unknown as Room,
    call: {
      id: 'call',
      org: 'org',
      room: 'room',
      callType: 'phone_call',
      direction: 'inbound',
      toNumber: '+1',
      fromNumber: '+2',
    } as CallRecord,
    userIdentity: caller.identity,
    gateway: { dial: () => never, refer: () => never, hangUp: async () => undefined, connect: async () => undefined, ...gateway },
    routes: { get: async () => ({ outboundTrunk: 'ST_1' }) as never },
    voice: { say: async () => undefined, summary: async () => 'It is about a bicycle.', deafen: async () => (deafen?.(), () => undefined) },
    over: new AbortController().signal,
    clock,
    logger: createLogger({ role: 'voice', level: 'silent' }),
  });
  return { subject, clock };
}

it('the target is not dialled for a caller who leaves meanwhile', async () => {
  const room = new SomeRoom();
  let dialled = 0;
  const { subject } = transfers({ room, deafen: () => room.leaves(), gateway: { dial: () => ((dialled += 1), never) } });
  await expect(subject.transfer({ to: '+3', mode: 'Warm', showCallerNumber: false })).resolves.toMatchObject({ outcome: 'failed' });
  expect(dialled).toBe(0);
  expect(await subject.reasonOf('user_ended_call')).toBe('user_ended_call');
});

it('a call whose caller has left waits for what becomes of a transfer, and not for ever', async () => {
  const room = new SomeRoom();
  const { subject, clock } = transfers({ room, gateway: {} });
  void subject.transfer({ to: '+3', mode: 'Cold', showCallerNumber: false });
  const reason = subject.reasonOf('user_ended_call');
  let known = false;
  void reason.then(() => (known = true));
  clock.tick(50_000);
  await Promise.resolve();
  expect(known).toBe(false);
  clock.tick(10_000);
  expect(await reason).toBe('user_ended_call');
});
