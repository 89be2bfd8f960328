/** Opens the page at `/call` in a real browser with a pretended microphone. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { anAgent } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { sendJson, Servers, startEndpoint } from '../../support/http-servers.ts';
import { aKnowledgeBase } from '../../support/knowledge-base.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { kubectl, startFacade } from '../api/facade.ts';
import { serveAgent } from '../api/calls-support.ts';
import { openPage, type Page } from './browser.ts';
import { speechWav, startCallPlatform } from './call-platform.ts';
import { pretendMicrophone, speak } from './microphone.ts';
import { joinAsAgent } from './pretended-agent.ts';
import { checkLooks, focused, keepScreenshot, SIZES, tabOrder } from './page-checks.ts';

const WELCOME = 'Hello, this is Harbour Bikes. How can I help you?';
const HOURS = 'We are open Monday to Friday from nine to six, and on Saturdays from ten to two. On Sundays we are closed.';

describe('the page in a browser', () => {
  const servers = new Servers();
  afterAll(dispose);
  const platform = suiteFixture(() => startCallPlatform({ page: true }));
  let page: Page;
  let callKey: string;

  beforeAll(async () => {
    const { facade, org, folder, provider } = platform;
    const orders = await startEndpoint(servers, (response) => sendJson(response, { order: '417', state: 'ready', shelf: 'B2' }));
    await aKnowledgeBase({ store: facade.store, org: org.name }, 'handbook', HOURS);
    const speech = { provider: 'openai_compatible', baseURL: provider.url, model: 'm' } as const;
    await serveAgent(facade.store, org.name, 'receptionist', {
      displayName: 'Front desk',
      knowledgeBase: 'handbook',
      tools: [
        {
          name: 'find_order',
          functionName: 'find_order',
          spec: {
            type: 'Custom',
            custom: {
              function: {
                name: 'find_order',
                description: 'Finds an order.',
                parameters: { type: 'object', properties: { number: { type: 'string' } } },
              },
              http: { url: orders.url, method: 'GET', timeout: '10s' },
            },
          },
        },
      ],
      agent: {
        welcomeMessage: WELCOME,
        llm: { ...speech, temperature: '0' },
        speechToText: speech,
        textToSpeech: { ...speech, voice: {}, temperature: '0.5' },
        postCallAnalysis: [{ name: 'reason', type: 'String', description: 'Why did they call?' }],
      },
    });
    const receptionist = anAgent('receptionist', org.name, { displayName: 'Front desk' });
    const curious = anAgent('curious', org.name, { requiredDynamicData: ['who'] });
    await kubectl(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'List', items: [receptionist, curious] });
    await eventually(async () => expect((await org.call('GET', '/v2/ai-agents')).body.data).toHaveLength(2));
    // The page's key is as `parley dev` gives it: it sees the calls that it makes, and nothing else.
    callKey = await org.keyWith('calls:create');
    page = await openPage({ folder });
    await pretendMicrophone(page, speechWav({ sampleRate: 48_000 }));
  });
  afterAll(async () => {
    await page.close();
    await servers.stop();
  });

  const text = (id: string): Promise<string> => page.run(`document.getElementById('${id}').textContent`);
  const shown = (id: string): Promise<boolean> => page.run(`!document.getElementById('${id}').closest('[hidden]')`);
  const press = (id: string): Promise<void> => page.run(`document.getElementById('${id}').click()`);
  const open = async (fragment: string): Promise<void> => {
    await page.goTo('about:blank');
    await page.goTo(`${platform.facade.url}/call${fragment}`);
  };

  it('asks for a key where it has none, and again where it is refused', async () => {
    await open('');
    expect(await shown('key-part')).toBe(true);
    expect(await focused(page)).toBe('key');
    await checkLooks(page);
    await page.run(`document.getElementById('key').value = 'pk_nobody'`);
    await page.press('Enter');
    await eventually(async () => expect(await text('problem')).toMatch(/API key is not known/));
    expect([await shown('key-part'), await focused(page)]).toEqual([true, 'key']);
  });

  it('names an agent of the link that is not there', async () => {
    await open(`#key=${callKey}&agent=nobody`);
    await eventually(async () => expect(await text('problem')).toMatch(/There is no agent “nobody”/));
    expect([await shown('setup-part'), await focused(page)]).toEqual([true, 'agent']);
    await checkLooks(page);
  });

  it('takes the key out of the address, and offers the agents', async () => {
    await open(`#key=${callKey}&agent=receptionist`);
    await eventually(async () => expect(await shown('setup-part')).toBe(true));
    expect([await page.run('location.href'), await focused(page)]).toEqual([`${platform.facade.url}/call`, 'start']);
    expect(
      await page.run(
        `[...document.querySelectorAll('#agent option')].map(({ value, textContent, selected }) => [value, textContent, selected])`,
      ),
    ).toEqual([
      ['curious', 'curious', false],
      ['receptionist', 'Front desk', true],
    ]);
    const choose = (agent: string): Promise<void> =>
      page.run(
        `(() => { const { agent } = document.forms[1].elements; agent.value = '${agent}'; agent.dispatchEvent(new Event('change')); })()`,
      );
    await choose('curious');
    expect(await text('data')).toBe('Who');
    await choose('receptionist');
    expect(await text('data')).toBe('');
  });

  it('shows what is said and done, who speaks, and how long it took', async () => {
    const { provider } = platform;
    provider.hear('What are your opening hours?', 'Thanks. Is my order 417 ready?');
    // The answer is long enough to be interrupted.
    provider.speech(({ input }) => ({ msPerCharacter: HOURS.includes(input) ? 200 : 40 }));
    provider.chat(({ lastUser, toolResults }) => {
      const asksForOrder = lastUser.includes('417');
      if (toolResults.length > 0) return asksForOrder ? 'Yes, order 417 is ready. You can collect it today.' : HOURS;
      if (asksForOrder) return { toolCalls: [{ name: 'find_order', arguments: { number: '417' } }] };
      return { toolCalls: [{ name: 'search_knowledge_base', arguments: { query: 'opening hours' } }] };
    });
    const entries = (): Promise<readonly (readonly string[])[]> =>
      page.run(`[...document.querySelectorAll('#timeline > li')].map((entry) =>
        [entry.className, (entry.querySelector('.words') ?? entry.querySelector('summary code')).textContent])`);
    const level = (id: string): Promise<number> => page.run(`Number(document.getElementById('${id}').getAttribute('aria-valuenow'))`);
    const sees = (count: number, ...last: readonly string[]): Promise<void> =>
      eventually(async () => {
        const seen = await entries();
        const why = `${await text('problem')} ${await text('status')} ${page.complaints.join('\n')} ${platform.voiceLog().slice(-2000)}`;
        expect(seen.slice(count - 1, count), why).toEqual([last]);
      });

    await page.press('Enter');
    await eventually(async () => expect(await focused(page)).toBe('hang-up'));
    await eventually(async () => expect(await level('agent-level')).toBeGreaterThan(30));
    await sees(1, 'agent', WELCOME);
    await eventually(async () => expect(await text('status')).toBe('The agent listens.'));
    expect(await level('user-level')).toBe(0);
    await speak(page);
    await eventually(async () => expect(await level('user-level')).toBeGreaterThan(30));
    await sees(2, 'user', 'What are your opening hours?');
    await sees(3, 'tool', 'search_knowledge_base(query: "opening hours")');
    // The answer grows while it is spoken.
    await eventually(async () => expect((await entries())[3]).toEqual(['agent interim', expect.stringMatching(/^We are open Monday/)]));
    await checkLooks(page);
    // The page is longer than the window.
    await page.resize({ ...SIZES.phone, height: 420 });
    await page.run('scrollTo(0, document.body.scrollHeight)');
    expect(
      await page.run(
        `(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.getElementById('hang-up').getBoundingClientRect())`,
      ),
    ).toBe(true);
    await page.resize(SIZES.desk);
    await speak(page);
    await sees(5, 'user', 'Thanks. Is my order 417 ready?');
    await sees(6, 'tool', 'find_order(number: "417")');
    await sees(7, 'agent', 'Yes, order 417 is ready. You can collect it today.');
    // The answer that was cut off stands before the words that cut it off, and is no longer than what was heard of it.
    await eventually(async () => expect(await page.run(`document.querySelectorAll('#timeline .latency').length`)).toBe(2));
    const cutOff = `document.querySelectorAll('#timeline > li')[3]`;
    const [, heard = ''] = /^(.*) — interrupted$/.exec((await entries())[3]?.[1] ?? '') ?? [];
    expect([HOURS.startsWith(heard), heard !== HOURS]).toEqual([true, true]);
    expect(await page.run(`${cutOff}.querySelector('.source').textContent`)).toMatch(/^handbook\.txt \d\.\d\d$/);
    const last = `document.querySelector('#timeline > li:last-child')`;
    expect(await page.run(`${last}.querySelector('.latency summary').textContent`)).toMatch(/^Answered in \d+\.\d\d s/);
    expect(await page.run(`[...${last}.querySelectorAll('.breakdown dt')].map(({ textContent }) => textContent)`)).toEqual([
      'voice to voice',
      'end of turn',
      'speech to text',
      'first token',
      'first audio',
    ]);
    expect(await entries()).toHaveLength(7);

    await press('mute');
    expect(await text('status')).toBe('You are muted.');
    expect(await page.run(`document.getElementById('mute').getAttribute('aria-pressed')`)).toBe('true');
    await press('mute');
    await press('hang-up');
    await eventually(async () => expect(await shown('summary-part')).toBe(true));
    expect([await text('title'), await text('ending'), await focused(page)]).toEqual(['Front desk', 'You hung up', 'ending']);
    expect(await tabOrder(page, 2)).toEqual(['again', 'call-link']);
    expect(await entries()).toHaveLength(7);
  });

  it('waits for the recording and the analysis, and links to the call', async () => {
    const { facade, org } = platform;
    const [id = ''] = /call_[0-9a-f-]+/.exec(await text('facts')) ?? [];
    expect((await org.call('GET', `/v1/calls/${id}`)).body).toMatchObject({ call_status: 'ended', call_finish_reason: 'user_ended_call' });
    expect(await page.run(`document.getElementById('call-link').getAttribute('href')`)).toBe(`/calls#${id}`);
    await eventually(async () => expect(await shown('player-part')).toBe(true));
    await eventually(async () => expect(await page.run(`document.getElementById('player').duration`)).toBeGreaterThan(5));
    await page.run(`document.querySelector('#timeline > li:last-child button.time').click()`);
    await eventually(async () => expect(await page.run(`document.getElementById('player').currentTime`)).toBeGreaterThan(1));
    await press('play');
    await eventually(async () => expect(await text('play')).toBe('Play'));
    expect(await page.run(`document.getElementById('download').download`)).toBe(`${id}.ogg`);
    expect(await text('analysis')).toContain('The model reads the transcript…');
    const reason = { name: 'reason', type: 'string', result: 'Opening hours, and whether an order is ready.', error: null } as const;
    await facade.store.calls.analyses.finish({ org: org.name, id, items: [reason], error: null, events: [] });
    await eventually(async () => expect(await text('analysis')).toContain(reason.result));
    await checkLooks(page);
    await keepScreenshot(page, 'call-page');
    await press('call-link');
    await eventually(async () => expect(await text('call-title')).toBe('Front desk'));
    // The key came along, and is in the address no more.
    expect(await page.run('location.pathname + location.hash')).toBe(`/calls#${id}`);
    await eventually(async () => expect(await shown('player-part')).toBe(true));
    expect(await text('problem')).toMatch(/lacks the permission calls:read/);
  });

  it.each([
    { when: 'the microphone is open', owner: 'navigator.mediaDevices', held: 'getUserMedia', made: 0 },
    { when: 'the call is made', owner: 'window', held: 'fetch', made: 1 },
  ])('joins no room where the user hangs up before $when', async ({ owner, held, made }) => {
    const calls = async (): Promise<number> => (await platform.org.call('GET', '/v1/calls?page_size=1')).body.total_count;
    const rooms = (): number => page.requested.filter((url) => url.startsWith('ws')).length;
    await open(`#key=${callKey}&agent=receptionist`);
    await eventually(async () => expect(await focused(page)).toBe('start'));
    const before = { calls: await calls(), rooms: rooms() };
    await page.run(`{
      const ask = ${owner}.${held}.bind(${owner});
      ${owner}.${held} = async (...given) => {
        const answer = await ask(...given);
        return new Promise((resolve) => (window.release = () => resolve(answer)));
      };
    }`);
    await page.press('Enter');
    await eventually(async () => expect(await page.run('typeof release')).toBe('function'));
    await press('hang-up');
    await page.run('release()');
    await eventually(async () => expect(await focused(page)).toBe('start'));
    expect([await shown('setup-part'), await shown('problem')]).toEqual([true, false]);
    expect({ calls: await calls(), rooms: rooms() }).toEqual({ calls: before.calls + made, rooms: before.rooms });
  });

  it('calls with the data that the agent requires, and with others', async () => {
    const fill = (id: string, value: string): Promise<void> => page.run(`document.getElementById('${id}').value = '${value}'`);
    await open(`#key=${callKey}&agent=curious`);
    await eventually(async () => expect(await focused(page)).toBe('data-0'));
    await fill('data-0', 'Ada');
    await page.run(`document.getElementById('more-data').open = true`);
    await fill('data-lines', 'Kiel');
    await press('start');
    await eventually(async () => expect(await text('problem')).toBe('Write “Kiel” as name=value.'));
    expect(await shown('setup-part')).toBe(true);
    await checkLooks(page);
    await fill('data-lines', 'city = Kiel');
    await fill('metadata-lines', 'ticket = 4711');
    await press('start');
    await eventually(async () => expect(await text('status')).toMatch(/agent/));
    const { calls } = (await platform.org.call('GET', '/v1/calls?page_size=1')).body;
    expect(calls[0]).toMatchObject({ native_llm_dynamic_data: { who: 'Ada', city: 'Kiel' }, metadata: { ticket: '4711' } });
    await press('hang-up');
    await eventually(async () => expect(await shown('summary-part')).toBe(true));
  });

  it('asks for another key after a call during which its key was revoked', async () => {
    const { facade, org } = platform;
    const given = { name: 'call page', expiration_days: 1, permissions: ['calls:create'] };
    const { api_key: key, key_id: id } = (await org.call('POST', '/v1/api-keys/', given)).body;
    await open(`#key=${key}&agent=receptionist`);
    await eventually(async () => expect(await focused(page)).toBe('start'));
    await page.press('Enter');
    await eventually(async () => expect(await text('status')).toMatch(/agent/));
    await org.call('POST', `/v1/api-keys/${id}/revoke`);
    await eventually(async () => expect((await facade.call('GET', '/v2/ai-agents', { key })).status).toBe(401));
    await press('hang-up');
    await eventually(async () => expect(await shown('summary-part')).toBe(true));
    await press('again');
    expect([await shown('key-part'), await focused(page)]).toEqual([true, 'key']);
    expect(await text('problem')).toMatch(/API key is not known/);
    await page.run(`document.getElementById('key').value = '${callKey}'`);
    await page.press('Enter');
    await eventually(async () => expect([await shown('setup-part'), await shown('problem')]).toEqual([true, false]));
  });

  it('has contacted its own server and the media server only, and its policy had nothing to refuse', () => {
    const hosts = new Set(page.requested.filter((url) => !/^(about|data|blob):/.test(url)).map((url) => new URL(url).host));
    expect([...hosts].toSorted()).toEqual([new URL(platform.facade.url).host, new URL(platform.mediaServer.url).host].toSorted());
    expect(page.complaints.filter((line) => /Content Security Policy|exception|Uncaught/i.test(line))).toEqual([]);
    // LiveKit's client logs these by default.
    expect(page.complaints.filter((line) => /signal connect|join_request/.test(line))).toEqual([]);
  });

  it('publishes the microphone once it hears the agent, muted where it was muted before', async () => {
    const { facade, mediaServer } = platform;
    // The test is the agent.
    const calls = { mediaServer: { ...mediaServer, agentName: 'none' }, page: true };
    const other = await startFacade({ database: facade.database, calls });
    onTestFinished(() => other.close());
    await page.goTo(`${other.url}/call#key=${callKey}&agent=receptionist`);
    await eventually(async () => expect(await focused(page)).toBe('start'));
    await page.press('Enter');
    await eventually(async () => expect(await text('status')).toBe('Waiting for the agent…'));
    const { items } = await facade.store.calls.list({ org: platform.org.name, filter: {}, direction: 'descending', pageSize: 1 });
    const agent = await joinAsAgent(mediaServer, items[0]!.room);
    await eventually(async () => expect([await text('status'), agent.user()]).toEqual(['The agent listens.', expect.anything()]));
    await press('mute');
    expect([await text('status'), agent.microphone()]).toEqual(['You are muted.', undefined]);
    await agent.publishVoice();
    await eventually(() => expect(agent.microphone()?.muted).toBe(true));
    await press('mute');
    await eventually(() => expect(agent.microphone()?.muted).toBe(false));
  });
});
