import { EventEmitter } from 'node:events';

import { RoomEvent, type Room } from '@livekit/rtc-node';
import { beforeEach, describe, expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { Keypad } from './keypad.ts';

let clock: FakeClock;
let room: EventEmitter;
let sent: (readonly [number, string])[];
let entries: string[];
let keypad: Keypad;

beforeEach(() => {
  clock = new FakeClock();
  [sent, entries] = [[], []];
  room = Object.assign(new EventEmitter(), { localParticipant: { publishDtmf: async (...key: [number, string]) => void sent.push(key) } });
  keypad = new Keypad({ room: room as unknown as Room, userIdentity: 'user', clock });
  keypad.listen({ onKey: () => undefined, onEntry: (keys) => entries.push(keys) });
});

const pressed = (keys: string, identity = 'user'): void => {
  for (const key of keys) room.emit(RoomEvent.DtmfReceived, 0, key, { identity });
};
const never = new AbortController().signal;

describe('what the user presses', () => {
  it('is an entry when # is pressed, or nothing more for a while', () => {
    pressed('12#34');
    expect(entries).toEqual(['12']);
    clock.tick(2_999);
    pressed('5');
    clock.tick(2_999);
    expect(entries).toEqual(['12']);
    clock.tick(1);
    expect(entries).toEqual(['12', '345']);
    pressed('#');
    expect([entries, clock.timers]).toEqual([['12', '345'], 0]);
  });

  it('does not count from another participant', () => {
    pressed('1#', 'agent');
    expect(entries).toEqual([]);
  });

  it('goes to the tool that collects it, and nowhere else', async () => {
    pressed('1');
    const collected = keypad.collect({ count: 4, withinMs: 30_000, signal: never });
    pressed('23');
    pressed('45#');
    expect(await collected).toBe('1234');
    expect(entries).toEqual(['5']);
  });

  it('is collected with fewer keys when it ends', async () => {
    const collected = keypad.collect({ count: 9, withinMs: 30_000, signal: never });
    pressed('42#');
    expect(await collected).toBe('42');
    expect([entries, clock.timers]).toEqual([[], 0]);
  });

  it('goes to one tool after the other, where the agent asks for two entries at once', async () => {
    const asked = [4, 2].map((count) => keypad.collect({ count, withinMs: 30_000, signal: never }));
    pressed('1234');
    expect(await asked[0]).toBe('1234');
    pressed('56');
    expect(await asked[1]).toBe('56');
    expect([entries, clock.timers]).toEqual([[], 0]);
  });

  it('is empty for a tool when it does not begin in time, but may end later', async () => {
    const nothing = keypad.collect({ count: 4, withinMs: 1_000, signal: never });
    clock.tick(1_000);
    expect(await nothing).toBe('');
    const late = keypad.collect({ count: 4, withinMs: 1_000, signal: never });
    clock.tick(900);
    pressed('7');
    clock.tick(3_000);
    expect(await late).toBe('7');
  });

  it('is empty for a tool whose call is over', async () => {
    const over = new AbortController();
    const collected = keypad.collect({ count: 4, withinMs: 1_000, signal: over.signal });
    over.abort();
    expect(await collected).toBe('');
    pressed('1#');
    expect(entries).toEqual(['1']);
  });
});

it('the agent presses one key after the other', async () => {
  const done = keypad.press('1w*#d', never);
  await clock.advance(5_000);
  await done;
  expect(sent).toEqual([
    [1, '1'],
    [10, '*'],
    [11, '#'],
    [15, 'D'],
  ]);
});
