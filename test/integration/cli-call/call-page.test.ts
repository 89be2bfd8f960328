/** The page at `/call` in a real browser with a pretended microphone, where this machine has one. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { findProgram } from '../../../cli/call/sound/devices.ts';
import { anAgent } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { kubectl } from '../api/facade.ts';
import { browsers, openPage, type Page } from './browser.ts';
import { speechWav, startCallPlatform, type CallPlatform } from './call-platform.ts';

const browser = findProgram(browsers, process.env['PATH'])?.file;

describe.skipIf(browser === undefined)('the page in a browser', () => {
  let platform: CallPlatform;
  let page: Page;

  beforeAll(async () => {
    platform = await startCallPlatform({ page: true });
    const { facade, org, folder } = platform;
    const receptionist = anAgent('receptionist', org.name, { displayName: 'Front desk' });
    const curious = anAgent('curious', org.name, { llm: { provider: 'openai', model: 'm', requiredDynamicData: ['who'] } });
    await kubectl(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'List', items: [receptionist, curious] });
    await eventually(async () => expect((await org.call('GET', '/v2/ai-agents')).body.data).toHaveLength(2));
    const microphone = join(folder, 'microphone.wav');
    await writeFile(microphone, speechWav({ sampleRate: 48_000, silenceMs: [6_000, 30_000] }));
    page = await openPage(browser!, { folder, microphone });
    // What `parley dev` gives to the page: the calls that it makes, and nothing else.
    await page.goTo(`${facade.url}/call#key=${await org.keyWith('calls:create')}&agent=receptionist`);
  });
  afterAll(async () => {
    await page.close();
    await platform.close();
  });

  const text = (id: string): Promise<string> => page.run(`document.getElementById('${id}').textContent`);
  const shown = (id: string): Promise<boolean> => page.run(`!document.getElementById('${id}').closest('[hidden]')`);
  const press = (id: string): Promise<void> => page.run(`document.getElementById('${id}').click()`);

  it('takes the key out of the address, and offers the agents', async () => {
    await eventually(async () => expect(await shown('setup-part')).toBe(true));
    expect(await page.run('location.href')).toBe(`${platform.facade.url}/call`);
    expect(
      await page.run(
        `[...document.querySelectorAll('#agent option')].map(({ value, textContent, selected }) => [value, textContent, selected])`,
      ),
    ).toEqual([
      ['curious', 'curious', false],
      ['receptionist', 'Front desk (receptionist)', true],
    ]);
    await page.run(
      `(() => { const agent = document.getElementById('agent'); agent.value = 'curious'; agent.dispatchEvent(new Event('change')); })()`,
    );
    expect(await text('data')).toBe('who');
    await page.run(
      `(() => { const agent = document.getElementById('agent'); agent.value = 'receptionist'; agent.dispatchEvent(new Event('change')); })()`,
    );
    expect(await text('data')).toBe('');
  });

  it('talks with the agent, shows what is said, hangs up, and plays the recording', async () => {
    platform.provider.hear('What are your hours?');
    platform.provider.chat(() => 'From nine to five.');
    await press('start');
    const transcript = (): Promise<string[]> =>
      page.run(`[...document.querySelectorAll('#transcript li')].map((line) => line.textContent)`);
    await eventually(async () =>
      expect(
        await transcript(),
        `${await text('problem')} ${await text('status')} ${page.complaints.join('\n')} ${platform.voiceLog().slice(-2000)}`,
      ).toEqual(['Agent: Good morning.', 'You: What are your hours?', 'Agent: From nine to five.']),
    );
    expect(await text('status')).toMatch(/The agent (listens|speaks)/);
    await press('mute');
    expect(await text('status')).toBe('You are muted.');
    expect(await page.run(`document.getElementById('mute').getAttribute('aria-pressed')`)).toBe('true');
    await press('mute');
    await press('hang-up');
    await eventually(async () => expect(await shown('summary-part')).toBe(true));
    expect(await text('ending')).toBe('You hung up.');
    expect(await text('facts')).toContain('Stateended');
    expect(await page.run(`document.querySelectorAll('#latencies tbody tr').length`)).toBe(1);
    await eventually(async () => expect(await shown('player')).toBe(true));
    await eventually(async () => expect(await page.run(`document.getElementById('player').duration`)).toBeGreaterThan(5));
    expect(await page.run(`document.getElementById('download').download`)).toMatch(/^call_.*\.ogg$/);
    const [id = ''] = /call_[0-9a-f-]+/.exec(await text('facts')) ?? [];
    expect((await platform.org.call('GET', `/v1/calls/${id}`)).body).toMatchObject({
      call_status: 'ended',
      call_finish_reason: 'user_ended_call',
    });
  });

  it('has contacted its own server and the media server only, and its policy had nothing to refuse', async () => {
    const hosts = new Set(page.requested.filter((url) => !/^(about|data|blob):/.test(url)).map((url) => new URL(url).host));
    expect([...hosts].toSorted()).toEqual([new URL(platform.facade.url).host, new URL(platform.mediaServer.url).host].toSorted());
    expect(page.complaints.filter((line) => /Content Security Policy|exception|Uncaught/i.test(line))).toEqual([]);
  });

  it('asks for a key where it has none, and again where it is refused', async () => {
    await page.goTo('about:blank');
    await page.goTo(`${platform.facade.url}/call`);
    expect(await shown('key-part')).toBe(true);
    await page.run(
      `(() => { document.getElementById('key').value = 'pk_nobody'; document.getElementById('key-part').requestSubmit(); })()`,
    );
    await eventually(async () => expect(await text('problem')).toMatch(/API key is not known/));
    expect(await shown('key-part')).toBe(true);
  });
});
