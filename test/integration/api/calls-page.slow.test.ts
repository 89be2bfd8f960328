/** Shows the page at `/calls` in a real browser: calls as the store has them, without anyone who talks. */
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { systemClock } from '../../../platform/clock.ts';
import { openDispatchStore, type CallMessage } from '../../../store/index.ts';
import { CallLifecycle } from '../../../calls/lifecycle.ts';
import { recordingKey } from '../../../calls/names.ts';
import { anAgent } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { encodeOgg } from '../../support/ogg.ts';
import { query } from '../../support/sql.ts';
import { syntheticSpeech } from '../../support/synthetic-speech.ts';
import { openPage, type Page } from '../cli-call/browser.ts';
import { checkLooks, focused, keepScreenshot, SIZES, tabOrder } from '../cli-call/page-checks.ts';
import { registerCall } from '../store/calls-support.ts';
import { serveAgent, someMediaServer } from './calls-support.ts';
import { kubectl, kubectlJson, organization, startFacade, type Facade, type TestOrganization } from './facade.ts';

const SECONDS = 24;
/** The call began two days ago, at a full minute. */
const STARTED_AT = Math.floor(Date.now() / 60_000 - 2 * 1_440) * 60_000;
/** The list has more calls than the 50 of its first page. */
const OTHERS = 54;

/** Says who speaks when, in seconds. */
const SPOKEN = [
  { role: 'agent', from: 0.3, to: 3.4, text: 'Hello, this is Harbour Bikes. How can I help you?' },
  { role: 'user', from: 4.5, to: 6.2, text: 'What are your opening hours?' },
  { role: 'agent', from: 7.3, to: 11, text: 'We are open Monday to Friday from nine to six, and on Saturdays' },
  { role: 'user', from: 10.4, to: 13, text: 'Thanks. Is my order 417 ready?' },
  { role: 'agent', from: 14.5, to: 18.2, text: 'Yes, order 417 is ready. You can collect it today.' },
  { role: 'user', from: 19, to: 20.2, text: 'Great, good bye.' },
  { role: 'agent', from: 21, to: 23, text: 'Good bye, and enjoy your ride.' },
] as const;

function recordingOf(role: 'agent' | 'user'): Int16Array {
  const rate = 48_000;
  const samples = new Int16Array(SECONDS * rate);
  for (const { from, to } of SPOKEN.filter((said) => said.role === role))
    samples.set(syntheticSpeech({ sampleRate: rate, ms: (to - from) * 1_000 }), Math.round(from * rate));
  return samples;
}

describe('the page of calls in a browser', () => {
  const folder = suiteFolder();
  let facade: Facade;
  let org: TestOrganization;
  let page: Page;
  let id: string;

  beforeAll(async () => {
    const files = openFileStorage({ url: pathToFileURL(join(folder, 'files')).href });
    const calls = { mediaServer: someMediaServer, recordings: files, page: true };
    facade = await startFacade({ calls });
    org = await organization(facade);
    await facade.store.organizations.limitLiveCalls(org.name, 100);
    const lifecycle = new CallLifecycle({ calls: facade.store.calls.calls, clock: systemClock });
    for (let other = 0; other < OTHERS; other += 1) {
      const ref = await registerCall(facade.store, org.name, { agentName: 'night-desk', agentDisplayName: 'Night desk' });
      if (other > 0) await lifecycle.end({ ...ref, reason: other % 5 === 0 ? 'user_connection_failure' : 'user_ended_call' });
      // The others were made on the days before.
      const madeAt = new Date(STARTED_AT - 24 * 3_600_000 - (OTHERS - other) * 5 * 3_600_000);
      await query(facade.database.url, 'UPDATE parley.calls SET created_at = $2 WHERE id = $1', [ref.id, madeAt]);
    }
    const subscription = { name: 'CRM', url: 'https://hooks.example.com', enable_signed_webhooks: false };
    const { body: hook } = await org.call('POST', '/v1/public/webhook/subscription', subscription);
    id = await theCall(lifecycle, files);
    await kubectl(['apply', '-f', '-'], anAgent('receptionist', org.name, { webhookURL: 'https://agent.example.com' }));
    await relay(['webhooksubscription', hook.id as string], ['agent', 'receptionist']);
    page = await openPage({ folder });
    await page.resize(SIZES.desk);
  });
  afterAll(async () => {
    await page.close();
    await facade.close();
  });

  /** Makes a call with everything that a call may have. @returns its id */
  async function theCall(lifecycle: CallLifecycle, files: ReturnType<typeof openFileStorage>): Promise<string> {
    const agent = { postCallAnalysis: [{ name: 'reason', type: 'String' as const, description: 'Why did they call?' }] };
    const revision = await serveAgent(facade.store, org.name, 'receptionist', { displayName: 'Harbour Bikes', agent });
    const ref = await registerCall(facade.store, org.name, { revision, agentDisplayName: 'Harbour Bikes' });
    await lifecycle.start({ ...ref, jobId: 'job' });
    const backdate = 'UPDATE parley.calls SET created_at = $2, started_at = $2 WHERE id = $1';
    await query(facade.database.url, backdate, [ref.id, new Date(STARTED_AT)]);
    const at = (second: number): Date => new Date(STARTED_AT + second * 1_000);
    const source = { knowledge_base: 'handbook', document_id: 'd', chunk_id: 'd:0', filename: 'opening-hours.md', score: 0.82 };
    const messages = SPOKEN.map(({ role, from, text }, seq): CallMessage => {
      const isCutOff = seq === 2;
      return { seq, role, content: text, spokenAt: at(from), interrupted: isCutOff, sources: isCutOff ? [source] : null };
    });
    const turn = { eou: 420, stt: 180, llmTtft: 260, ttsTtfb: 95, v2v: 810 };
    const tool = { result: '{"order":"417","state":"ready"}', failed: false, durationMs: 212 };
    await facade.store.calls.log.add(ref, {
      messages,
      turns: [
        { ...turn, seq: 2 },
        { ...turn, seq: 4, eou: 510, llmTtft: 640, v2v: 1_290 },
        { ...turn, seq: 6, eou: 350, v2v: 720 },
      ],
      toolCalls: [
        { ...tool, seq: 1, name: 'search_knowledge_base', arguments: { query: 'opening hours' }, beganAt: at(6.9) },
        { ...tool, seq: 2, name: 'find_order', arguments: { number: '417' }, beganAt: at(13.6) },
      ],
    });
    const key = recordingKey(org.name, ref.id);
    const recording = await encodeOgg({ left: recordingOf('user'), right: recordingOf('agent') });
    const { bytes } = await files.put(key, Readable.from([recording]), { maxBytes: 10_000_000 });
    await lifecycle.end({ ...ref, reason: 'user_ended_call', endedAgoMs: () => Date.now() - STARTED_AT - SECONDS * 1_000 });
    await lifecycle.addRecording({ ...ref, key, bytes, durationMs: SECONDS * 1_000 });
    const reason = { name: 'reason', type: 'string', result: 'Opening hours, and whether order 417 is ready.', error: null } as const;
    await facade.store.calls.analyses.finish({ ...ref, items: [reason], error: null, events: [] });
    return ref.id;
  }

  /** Relays all events to the receivers; none of them is sent. */
  async function relay(...receivers: readonly (readonly [kind: string, name: string])[]): Promise<void> {
    const found = receivers.map((receiver) => kubectlJson<{ metadata: { uid: string } }>(['get', ...receiver, '-n', org.name]));
    const uids = (await Promise.all(found)).map(({ metadata }) => metadata.uid);
    const dispatcher = openDispatchStore({ databaseUrl: facade.database.url });
    for (let taken = 1; taken > 0;)
      ({ taken } = await dispatcher.takeOutbox(100, (events) => ({
        deliveries: events.flatMap((event) =>
          uids.map((subscriptionUid) => ({ event, subscriptionUid, state: 'skipped', reason: 'paused' })),
        ),
      })));
    await dispatcher.close();
  }

  const text = (element: string): Promise<string> => page.run(`document.getElementById('${element}').textContent`);
  const shown = (element: string): Promise<boolean> => page.run(`document.getElementById('${element}').checkVisibility()`);
  const press = (element: string): Promise<void> => page.run(`document.getElementById('${element}').click()`);
  const listed = (): Promise<readonly string[]> =>
    page.run(`[...document.querySelectorAll('#list a')].map((link) => link.querySelector('.name').textContent)`);
  const secondPlayed = (): Promise<number> => page.run(`document.getElementById('player').currentTime`);
  const open = async (fragment: string): Promise<void> => {
    await page.goTo('about:blank');
    await page.goTo(`${facade.url}/calls${fragment}`);
  };
  const filter = async (values: Readonly<Record<string, string>>): Promise<void> => {
    await page.run(`for (const [id, value] of Object.entries(${JSON.stringify(values)})) document.getElementById(id).value = value`);
    await page.run(`document.getElementById('status').dispatchEvent(new Event('change', { bubbles: true }))`);
  };

  it('asks for a key, and again where it is refused', async () => {
    await open('');
    expect([await shown('key-part'), await shown('filter'), await focused(page)]).toEqual([true, false, 'key']);
    await checkLooks(page);
    await page.run(`document.getElementById('key').value = 'pk_nobody'`);
    await page.press('Enter');
    await eventually(async () => expect(await text('problem')).toMatch(/API key is not known/));
    expect([await shown('key-part'), await focused(page)]).toEqual([true, 'key']);
  });

  it('lists calls, page by page, with the key out of the address', async () => {
    await open(`#key=${org.key}`);
    await eventually(async () => expect(await text('count')).toBe(`${OTHERS + 1} calls`));
    expect(await page.run('location.href')).toBe(`${facade.url}/calls`);
    expect(await listed()).toHaveLength(50);
    // The row has the user's first words, and how the call ended in words.
    const first = (part: string): Promise<string> => page.run(`document.querySelector('#list a .${part}').textContent`);
    await eventually(async () => expect(await first('said')).toBe(SPOKEN[1].text));
    expect([await first('name'), await first('outcome'), await first('way')]).toEqual(['Harbour Bikes', 'User hung up', 'Web call']);
    const days = await page.run<readonly string[]>(`[...document.querySelectorAll('#list h2')].map(({ textContent }) => textContent)`);
    expect([days.length > 1, new Set(days).size]).toEqual([true, days.length]);
    await checkLooks(page);
    await press('more');
    await eventually(async () => expect(await listed()).toHaveLength(OTHERS + 1));
    expect(await shown('more')).toBe(false);
    // The focus is on the first of those that came.
    expect(await page.run(`[...document.querySelectorAll('#list a')].indexOf(document.activeElement)`)).toBe(50);
  });

  it('filters by agent, state and time', async () => {
    const counts = async (values: Readonly<Record<string, string>>, expected: string): Promise<void> => {
      await filter({ agent: '', status: '', from: '', to: '', ...values });
      await eventually(async () => expect(await text('count')).toBe(expected));
    };
    expect(await page.run(`[...document.querySelectorAll('#agent option')].map(({ textContent }) => textContent)`)).toEqual([
      'All agents',
      'Night desk',
      // The page shows the agent's present name.
      'receptionist',
    ]);
    await counts({ agent: 'receptionist' }, '1 call');
    await counts({ agent: 'receptionist', status: 'error' }, '0 calls');
    await counts({ status: 'registered' }, '1 call');
    await counts({ status: 'error' }, '10 calls');
    const day = await page.run(`(() => { const date = new Date(${STARTED_AT});
      return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-'); })()`);
    await counts({ from: String(day), to: String(day) }, '1 call');
    await counts({}, `${OTHERS + 1} calls`);
  });

  it('offers more of the list that is there, not of one that is under way or has failed', async () => {
    await page.run(`{
      const ask = window.fetch;
      window.fetch = () => new Promise((_, reject) => (window.fail = () => reject(new TypeError('The network is gone.'))))
        .finally(() => (window.fetch = ask));
    }`);
    await filter({ agent: 'receptionist' });
    expect([(await listed()).length, await shown('more')]).toEqual([50, false]);
    await page.run('fail()');
    await eventually(async () => expect([await text('problem'), await shown('more')]).toEqual(['The network is gone.', true]));
    await press('more');
    await eventually(async () => expect(await listed()).toHaveLength(OTHERS + 1));
    expect([await text('count'), await shown('more')]).toEqual([`${OTHERS + 1} calls`, false]);
    await filter({ agent: '' });
    await eventually(async () => expect([(await listed()).length, await shown('more'), await shown('problem')]).toEqual([50, true, false]));
  });

  it('opens a call, with what was said and done, heard and sent', async () => {
    await page.run(`document.querySelector('#list a').click()`);
    await eventually(async () => expect(await text('call-title')).toBe('Harbour Bikes'));
    expect([await page.run('location.hash'), await focused(page)]).toEqual([`#${id}`, 'call-title']);
    const timeline = await page.run<readonly string[]>(`[...document.querySelectorAll('#timeline > li')].map((entry) =>
      entry.querySelector('.time').textContent + ' ' + (entry.querySelector('.words') ?? entry.querySelector('summary code')).textContent)`);
    expect(timeline).toEqual([
      `0:00 ${SPOKEN[0].text}`,
      `0:04 ${SPOKEN[1].text}`,
      '0:06 search_knowledge_base(query: "opening hours")',
      `0:07 ${SPOKEN[2].text} — interrupted`,
      `0:10 ${SPOKEN[3].text}`,
      '0:13 find_order(number: "417")',
      `0:14 ${SPOKEN[4].text}`,
      `0:19 ${SPOKEN[5].text}`,
      `0:21 ${SPOKEN[6].text}`,
    ]);
    expect(await page.run(`[...document.querySelectorAll('#timeline .tags')].map(({ textContent }) => textContent)`)).toEqual([
      'opening-hours.md 0.82',
    ]);
    expect(await page.run(`[...document.querySelectorAll('#timeline .latency summary')].map(({ textContent }) => textContent)`)).toEqual([
      'Answered in 0.81 s',
      'Answered in 1.29 s',
      'Answered in 0.72 s',
    ]);
    expect(await text('analysis')).toContain('Opening hours, and whether order 417 is ready.');
    await eventually(async () =>
      expect(await page.run(`[...document.querySelectorAll('#deliveries li')].map(({ textContent }) => textContent)`)).toEqual(
        ["the agent's own webhook", 'CRM'].flatMap((receiver) =>
          ['RecordingReady', 'CallEnded', 'CallStarted'].map((event) => `CallHandler.${event}skipped${receiver}, 0 attempts, paused`),
        ),
      ),
    );
    await eventually(async () => expect(await page.run(`document.getElementById('position').ariaValueMax`)).toBe(SECONDS.toFixed(1)));
    await checkLooks(page);
  });

  it('draws who spoke when, and plays from where it is clicked', async () => {
    await eventually(async () => expect(await page.run(`document.getElementById('player').readyState`)).toBeGreaterThan(1));
    /** Measures how much of a part of a lane is drawn. */
    const ink = (from: number, to: number, lane: 'agent' | 'user'): Promise<number> =>
      page.run(`(() => {
        const { width, height } = document.getElementById('waveform');
        const x = Math.round(width * ${from / SECONDS});
        const { data } = document.getElementById('waveform').getContext('2d').getImageData(
          x, ${lane === 'user' ? 0 : 'height / 2'}, Math.round(width * ${to / SECONDS}) - x, height / 2);
        return data.filter((value, index) => index % 4 === 3 && value > 0).length / (data.length / 4);
      })()`);
    await eventually(async () => expect(await ink(4.8, 6, 'user')).toBeGreaterThan(4 * (await ink(4.8, 6, 'agent'))));
    expect(await ink(15, 18, 'agent')).toBeGreaterThan(4 * (await ink(15, 18, 'user')));
    await page.run(`(() => {
      const position = document.getElementById('position');
      const { left, top, width } = position.getBoundingClientRect();
      position.dispatchEvent(new MouseEvent('click', { clientX: left + width / 2, clientY: top + 10 }));
    })()`);
    expect(await secondPlayed()).toBeCloseTo(SECONDS / 2, 0);
    await page.run(`document.getElementById('position').focus()`);
    await page.press('ArrowRight');
    expect(await secondPlayed()).toBeCloseTo(SECONDS / 2 + 5, 0);
    await page.run(`document.querySelectorAll('#timeline button.time')[1].click()`);
    await eventually(async () => expect(await secondPlayed()).toBeGreaterThan(4.5));
    expect(await secondPlayed()).toBeLessThan(10);
    await page.run(`document.getElementById('player').pause()`);
    await keepScreenshot(page, 'calls-page');
  });

  it('keeps the recording of the call that is open when one that was left is decoded', async () => {
    await page.run(`{
      const sound = OfflineAudioContext.prototype;
      const { decodeAudioData } = sound;
      sound.decodeAudioData = async function (data) {
        sound.decodeAudioData = decodeAudioData;
        await new Promise((resolve) => (window.decode = resolve));
        return (window.decoded = decodeAudioData.call(this, data));
      };
    }`);
    const show = async (call: string): Promise<void> => {
      await page.run(`location.hash = '${call}'`);
      await eventually(async () => expect(await shown('player-part')).toBe(call !== ''));
    };
    for (const call of ['', id, '', id]) await show(call);
    await page.run(
      `decode(), new Promise((resolve) => setTimeout(resolve)).then(() => decoded).then(() => new Promise(requestAnimationFrame))`,
    );
    expect([await shown('player-part'), await page.run(`document.getElementById('player').src`)]).toEqual([
      true,
      expect.stringMatching(/^blob:/),
    ]);
  });

  /** Makes the next request for a record fail. */
  const failNextReading = (): Promise<void> =>
    page.run(`{
      const ask = window.fetch;
      window.failed = false;
      window.fetch = (path, options) => {
        if (!path.startsWith('/v1/calls/')) return ask(path, options);
        [window.fetch, window.failed] = [ask, true];
        return Promise.reject(new TypeError('The network is gone.'));
      };
    }`);

  it('opens a call that could not be read when it is pressed again', async () => {
    await page.run(`location.hash = ''`);
    await failNextReading();
    await page.run(`document.querySelector('#list a').click()`);
    await eventually(async () => expect([await text('problem'), await shown('call-title')]).toEqual(['The network is gone.', false]));
    await page.run(`document.querySelector('#list a').click()`);
    await eventually(async () => expect([await text('call-title'), await shown('problem')]).toEqual(['Harbour Bikes', false]));
  });

  it('follows a call that goes on, past a reading that fails', async () => {
    const [live] = await query<{ id: string }>(facade.database.url, `SELECT id FROM parley.calls WHERE status = 'registered'`);
    await page.run(`location.hash = '${live!.id}'`);
    await eventually(async () => expect(await text('call-title')).toBe('Night desk'));
    await failNextReading();
    await eventually(async () => expect(await page.run('window.failed')).toBe(true));
    const lifecycle = new CallLifecycle({ calls: facade.store.calls.calls, clock: systemClock });
    await lifecycle.end({ org: org.name, id: live!.id, reason: 'maximum_duration_exceeded' });
    await eventually(async () => expect(await text('call-line')).toMatch(/^Maximum duration reached/));
    await page.run(`location.hash = '${id}'`);
    await eventually(async () => expect(await text('call-title')).toBe('Harbour Bikes'));
  });

  it('shows the call in place of the list on a phone, and goes back to where it was opened', async () => {
    await page.resize(SIZES.phone);
    expect([await shown('list'), await shown('inspector')]).toEqual([false, true]);
    await press('back');
    await eventually(async () => expect([await shown('list'), await shown('inspector')]).toEqual([true, false]));
    expect(await page.run(`document.activeElement.getAttribute('href')`)).toBe(`#${id}`);
    await page.resize(SIZES.desk);
  });

  it('shows with each key what that key may read', async () => {
    await open(`#${id}&key=${await org.keyWith('calls:read')}`);
    await eventually(async () => expect(await text('call-title')).toBe('Harbour Bikes'));
    expect([await page.run('location.hash'), await focused(page)]).toEqual([`#${id}`, 'call-title']);
    await eventually(async () => expect(await text('deliveries-note')).toMatch(/webhooks:read/));
    await eventually(async () => expect(await text('recording-note')).toMatch(/recordings:read/));
    await open(`#${id}&key=${await org.keyWith('calls:create')}`);
    await eventually(async () => expect(await text('problem')).not.toBe(''));
    expect(await shown('inspector')).toBe(false);
  });

  it('follows the order of reading with the keyboard', async () => {
    await open(`#key=${org.key}`);
    await eventually(async () => expect(await listed()).toHaveLength(50));
    expect(await focused(page)).toBe('agent');
    expect((await tabOrder(page, 1))[0]).toBe('status');
  });

  it('has contacted its own server only, and its policy had nothing to refuse', () => {
    const hosts = new Set(page.requested.filter((url) => !/^(about|data|blob):/.test(url)).map((url) => new URL(url).host));
    expect([...hosts]).toEqual([new URL(facade.url).host]);
    expect(page.complaints.filter((line) => /Content Security Policy|exception|Uncaught/i.test(line))).toEqual([]);
  });
});
