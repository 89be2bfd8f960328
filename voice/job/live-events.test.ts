import { EventEmitter } from 'node:events';

import { RoomEvent, type Room } from '@livekit/rtc-node';
import { expect, it } from 'vitest';

import { WATCH_MS, WATCH_TOPIC } from '../../calls/names.ts';
import { createLogger } from '../../platform/logging.ts';
import type { LiveEvent } from '../../store/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { initialState, type ConversationState } from '../conversation/state.ts';
import { LiveEvents } from './live-events.ts';

function someCall() {
  const room = new EventEmitter();
  const clock = new FakeClock();
  const sent: (readonly LiveEvent[])[] = [];
  const live = new LiveEvents({
    room: room as unknown as Room,
    publish: async (events) => void sent.push(events),
    clock,
    logger: createLogger({ role: 'test', level: 'silent' }),
  });
  const watch = (sender?: object): boolean => room.emit(RoomEvent.DataReceived, new Uint8Array(), sender, undefined, WATCH_TOPIC);
  return { clock, sent, live, watch };
}

const state = { type: 'state', agent: 'listening', muted: false, held: false, takenOver: false } as const;
const line = (text: string, final = false) => ({ id: 'user-1', role: 'user', text, final }) as const;

it('passes nothing on unless somebody follows the call, whom only the API may announce', async () => {
  const { clock, sent, live, watch } = someCall();
  live.words(line('one'));
  watch({ identity: 'user' });
  live.stored();
  await clock.advance(1_000);
  expect(sent).toEqual([]);
  watch();
  await clock.advance(100);
  // Whoever comes gets the state.
  expect(sent.splice(0)).toEqual([[state]]);
  await clock.advance(WATCH_MS);
  live.words(line('two'));
  live.changed({ held: true });
  await clock.advance(1_000);
  expect(sent).toEqual([]);
});

it('gathers what comes within a moment, of each line its last version', async () => {
  const { clock, sent, live, watch } = someCall();
  watch();
  live.words(line('one'));
  live.words(line('one two'));
  live.words(line('one two three', true));
  live.stored();
  live.changed({ muted: true });
  live.changed({ muted: true });
  await clock.advance(100);
  const words = { type: 'words', ...line('one two three', true) };
  expect(sent).toEqual([[state, words, { type: 'stored' }, { ...state, muted: true }]]);
  live.stored();
  await live.close();
  expect(sent.at(-1)).toEqual([{ type: 'stored' }]);
});

it('passes no words on where personal data is taken out of them later', async () => {
  const { clock, sent, live, watch } = someCall();
  live.withholdWords();
  watch();
  live.words(line('my card is 4111', true));
  live.stored();
  await clock.advance(100);
  expect(sent).toEqual([[state, { type: 'stored' }]]);
});

it('tells of a tool once, when it begins', async () => {
  const { clock, sent, live, watch } = someCall();
  const silence = undefined;
  const settings = {
    agent: 'receptionist',
    handoffs: [],
    welcome: undefined,
    language: 'en-US',
    turnEndMs: 0,
    silence,
    stoppedByInterruption: [],
  };
  const before = initialState({ ...settings, interruptions: { enabled: true, minSpeechMs: 0, minWords: 0 } });
  const running: ConversationState = {
    ...before,
    history: [{ type: 'call', id: '1', answer: 'a', callId: 'c', name: 'look_up', args: '{}' }],
    tools: [{ callId: 'c', number: 1, answer: 'a', agent: 'receptionist', stops: false, stopping: false }],
  };
  watch();
  for (const each of [before, running, running, before]) live.conversation(each);
  await clock.advance(100);
  expect(sent).toEqual([[state, { type: 'tool_started', name: 'look_up', at: clock.now() - 100 }, { ...state, agent: 'thinking' }, state]]);
});
