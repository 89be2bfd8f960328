/** Follows and steers a call at `/calls` in a real browser, with a job that takes commands from the table and passes events on. */
import { RoomServiceClient } from 'livekit-server-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { CallLifecycle } from '../../../calls/lifecycle.ts';
import { httpUrlOf } from '../../../calls/media-server.ts';
import { roomOf } from '../../../calls/names.ts';
import { createRooms } from '../../../calls/rooms.ts';
import { systemClock } from '../../../platform/clock.ts';
import { newCallId, type CallRef, type LiveEvent } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { mediaServer } from '../../support/media-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openPage, type Page } from '../cli-call/browser.ts';
import { checkLooks, keepScreenshot, SIZES } from '../cli-call/page-checks.ts';
import { registerCall } from '../store/calls-support.ts';
import { serveCommands, type ServedCommands } from './calls-support.ts';
import { organization, startFacade } from './facade.ts';

const server = suiteFixture(mediaServer);
const facade = suiteFixture(() => startFacade({ calls: { mediaServer: server, page: true } }));
const org = suiteFixture(() => organization(facade));

describe('a call that goes on, at the page of calls', () => {
  const folder = suiteFolder();
  let page: Page;
  let ref: CallRef;
  let served: ServedCommands;

  const lifecycle = (): CallLifecycle => new CallLifecycle({ calls: facade.store.calls.calls, clock: systemClock });

  beforeAll(async () => {
    const id = newCallId();
    ref = await registerCall(facade.store, org.name, { id, room: roomOf(id), agentDisplayName: 'Harbour Bikes' });
    await createRooms(server).open(id);
    await lifecycle().start({ ...ref, jobId: 'job' });
    const spoken = { role: 'agent', interrupted: false, sources: null } as const;
    await facade.store.calls.log.add(ref, {
      messages: [{ ...spoken, seq: 1, content: 'Hello, this is Harbour Bikes. How can I help you?', spokenAt: new Date() }],
    });
    served = serveCommands(facade.store, ref);
    page = await openPage({ folder });
    await page.resize(SIZES.desk);
  });
  afterAll(async () => {
    served.stop();
    await page.close();
  });

  const text = (element: string): Promise<string> => page.run(`document.getElementById('${element}').textContent`);
  const shown = (element: string): Promise<boolean> => page.run(`document.getElementById('${element}').checkVisibility()`);
  const press = (element: string): Promise<void> => page.run(`document.getElementById('${element}').click()`);
  const pressed = (element: string): Promise<string> => page.run(`document.getElementById('${element}').getAttribute('aria-pressed')`);
  const words = (): Promise<readonly string[]> =>
    page.run(`[...document.querySelectorAll('#timeline .words')].map(({ textContent }) => textContent)`);
  const open = async (key: string): Promise<void> => {
    await page.goTo('about:blank');
    await page.goTo(`${facade.url}/calls#${ref.id}&key=${key}`);
    await eventually(async () => expect(await shown('live-part')).toBe(true));
  };
  const publish = (...events: readonly LiveEvent[]): Promise<void> => facade.store.calls.events.publish(ref.id, events);
  const state = { type: 'state', agent: 'listening', muted: false, held: false, takenOver: false } as const;

  it('shows words as they come, and the state of the agent', async () => {
    await open(org.key);
    await eventually(async () => {
      await publish({ type: 'words', id: 'user-1', role: 'user', text: 'What are your', final: false }, { ...state, agent: 'speaking' });
      expect(await words()).toEqual(['Hello, this is Harbour Bikes. How can I help you?', 'What are your']);
    });
    expect(await text('live-state')).toBe('The agent is speaking');
    await publish({ type: 'words', id: 'user-1', role: 'user', text: 'What are your opening hours?', final: true }, state);
    await eventually(async () => expect((await words()).at(-1)).toBe('What are your opening hours?'));
    expect(await text('live-state')).toBe('The agent is listening');
    await eventually(async () => expect([await shown('say'), await shown('listen'), await shown('take-over')]).toEqual([true, true, true]));
    await checkLooks(page);
    await keepScreenshot(page, 'calls-page-live');
  });

  it('says, instructs and mutes', async () => {
    const write = (words_: string): Promise<void> => page.run(`document.getElementById('live-words').value = ${JSON.stringify(words_)}`);
    await write('One moment, please.');
    await press('say');
    await eventually(async () => expect(await text('live-note')).toBe('The agent says it.'));
    expect(await page.run(`document.getElementById('live-words').value`)).toBe('');
    await write('Offer a discount.');
    await press('instruct');
    await eventually(async () => expect(await text('live-note')).toMatch(/model knows/));
    await press('mute-agent');
    await eventually(() =>
      expect(served.taken).toEqual([
        ['say', { text: 'One moment, please.', interrupt: false }],
        ['instructions', { text: 'Offer a discount.' }],
        ['mute', { muted: true }],
      ]),
    );
    await publish({ ...state, muted: true });
    await eventually(async () => expect([await pressed('mute-agent'), await text('live-state')]).toEqual(['true', 'The agent is muted']));
    await press('mute-agent');
    await eventually(() => expect(served.taken.at(-1)).toEqual(['mute', { muted: false }]));
  });

  it('hears the call as somebody whom nobody sees, until it is pressed again', async () => {
    const rooms = new RoomServiceClient(httpUrlOf(server), server.apiKey, server.apiSecret);
    const inside = async () => (await rooms.listParticipants(roomOf(ref.id))).map(({ identity }) => identity.split('-')[0]);
    await press('listen');
    await eventually(async () =>
      expect([await pressed('listen'), await text('live-note')]).toEqual(['true', expect.stringMatching(/hear/)]),
    );
    expect(await inside()).toEqual(['listener']);
    await press('listen');
    await eventually(async () => expect([await pressed('listen'), await inside()]).toEqual(['false', []]));
  });

  it('offers what the key may do, and nothing once the call is over', async () => {
    await open(await org.keyWith('calls:read', 'calls:listen'));
    await eventually(async () => expect(await shown('listen')).toBe(true));
    expect([await shown('live-form'), await shown('mute-agent'), await shown('take-over')]).toEqual([false, false, false]);
    await lifecycle().end({ ...ref, reason: 'user_ended_call' });
    await eventually(async () => expect(await shown('live-part')).toBe(false));
  });

  it('has contacted its own server and the media server only, and its policy had nothing to refuse', () => {
    const hosts = new Set(page.requested.filter((url) => !/^(about|data|blob):/.test(url)).map((url) => new URL(url).host));
    expect([...hosts].filter((host) => ![new URL(facade.url).host, new URL(server.publicUrl).host].includes(host))).toEqual([]);
    expect(page.complaints.filter((line) => /Content Security Policy|exception|Uncaught/i.test(line))).toEqual([]);
  });
});
