import { EventEmitter } from 'node:events';

import { RoomEvent, TrackKind, type Room } from '@livekit/rtc-node';
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

interface Wish {
  readonly room: SomeRoom;
  readonly gateway: Partial<TransferOptions['gateway']>;
  readonly deafen?: () => void;
  readonly listen?: () => void;
}

function transfers({ room, gateway, deafen, listen = () => undefined }: Wish) {
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
    voice: { say: async () => undefined, summary: async () => 'It is about a bicycle.', deafen: async () => (deafen?.(), listen) },
    over: new AbortController().signal,
    clock,
    logger: createLogger({ role: 'voice', level: 'silent' }),
  });
  return { subject, clock };
}

const warm = { to: '+3', mode: 'Warm', callerID: 'Agent' } as const;

it('the target is not dialled for a caller who leaves meanwhile', async () => {
  const room = new SomeRoom();
  let dialled = 0;
  const { subject } = transfers({ room, deafen: () => room.leaves(), gateway: { dial: () => ((dialled += 1), never) } });
  await expect(subject.transfer(warm)).resolves.toMatchObject({ outcome: 'failed' });
  expect(dialled).toBe(0);
  expect(await subject.reasonOf('user_ended_call')).toBe('user_ended_call');
});

it('the target is not left alone where the caller leaves while the two are being connected', async () => {
  const room = new SomeRoom();
  room.localParticipant.trackPublications.set('TR_1', { kind: TrackKind.KIND_AUDIO, sid: 'TR_1' });
  const hungUp: string[] = [];
  const { subject } = transfers({
    room,
    gateway: {
      dial: async () => ({ outcome: 'answered', sipCallId: 'SCL_1' }),
      connect: async (_room, identity) => (identity === 'transfer-call' ? room.leaves() : undefined),
      hangUp: async (_room, identity) => void hungUp.push(identity),
    },
  });
  const transferring = subject.transfer(warm);
  expect(await subject.reasonOf('user_ended_call')).toBe('user_ended_call');
  expect(await transferring).toMatchObject({ outcome: 'failed' });
  expect(subject.connected).toBe(false);
  expect(hungUp).toEqual(['transfer-call']);
});

/** Builds transfers with a gateway that answers, and a media server that fails with some changes of who hears whom. */
function failing(fails: (identity: string, hears: boolean) => boolean) {
  const room = new SomeRoom();
  room.localParticipant.trackPublications.set('TR_1', { kind: TrackKind.KIND_AUDIO, sid: 'TR_1' });
  const did: string[] = [];
  const { subject } = transfers({
    room,
    listen: () => void did.push('listens'),
    gateway: {
      dial: async () => (did.push('dials'), { outcome: 'answered', sipCallId: 'SCL_1' }),
      hangUp: async (_room, identity) => void did.push(`hangs up on ${identity}`),
      connect: async (_room, identity, tracks, hears) => {
        did.push(`${identity} ${hears ? 'hears' : 'hears no'} ${tracks.join()}`);
        if (fails(identity, hears)) throw new Error('unavailable');
      },
    },
  });
  return { subject, did };
}

it('the target is not dialled where the caller could not be put on hold, and would hear what is said', async () => {
  const { subject, did } = failing((_identity, hears) => !hears);
  expect(await subject.transfer(warm)).toMatchObject({ outcome: 'failed' });
  const tried = 'caller hears no TR_1';
  expect(did).toEqual([tried, tried, 'hangs up on transfer-call', 'caller hears TR_1', 'listens']);
});

it('the caller is back where the two could not be connected', async () => {
  const { subject, did } = failing((identity) => identity === 'transfer-call');
  expect(await subject.transfer(warm)).toMatchObject({ outcome: 'failed' });
  expect(subject.connected).toBe(false);
  expect(did.slice(-3)).toEqual(['hangs up on transfer-call', 'caller hears TR_1', 'listens']);
});

it('the agent speaks to the caller again once the media server does what it did not do before', async () => {
  let failed = false;
  const { subject, did } = failing((identity, hears) => identity === 'transfer-call' || (hears && !failed && (failed = true)));
  expect(await subject.transfer(warm)).toMatchObject({ outcome: 'failed' });
  expect(did.slice(-3)).toEqual(['caller hears TR_1', 'caller hears TR_1', 'listens']);
});

it('a call whose caller has left waits for what becomes of a transfer, and not for ever', async () => {
  const room = new SomeRoom();
  const { subject, clock } = transfers({ room, gateway: {} });
  void subject.transfer({ to: '+3', mode: 'Cold', callerID: 'Agent' });
  const reason = subject.reasonOf('user_ended_call');
  let known = false;
  void reason.then(() => (known = true));
  clock.tick(50_000);
  await Promise.resolve();
  expect(known).toBe(false);
  clock.tick(10_000);
  expect(await reason).toBe('user_ended_call');
});
