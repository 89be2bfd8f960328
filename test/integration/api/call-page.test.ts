/** The page at `/call` is off by default; where it is on it needs nothing from elsewhere. */
import { afterAll, beforeAll, expect, it } from 'vitest';

import { LOGO_ADDRESS } from '../../../platform/logo.ts';
import type { Permission } from '../../../store/index.ts';
import { anAgent } from '../../support/builders.ts';
import { someMediaServer } from './calls-support.ts';
import { kubectl, organization, startFacade, type Facade } from './facade.ts';

let facade: Facade;
let without: Facade;

beforeAll(async () => {
  const calls = { mediaServer: someMediaServer };
  facade = await startFacade({ calls: { ...calls, page: true } });
  without = await startFacade({ database: facade.database, calls });
});
afterAll(async () => {
  await without.close();
  await facade.close();
});

it('is not there unless somebody wants it', async () => {
  for (const path of ['/call', '/calls', '/call/call-page.js', '/call/calls-page.js', '/call/style.css'])
    expect((await without.call('GET', path)).status).toBe(404);
});

it.each(['call', 'calls'])('/%s takes scripts, styles and data from its own server and from the media server only', async (name) => {
  const { status, headers, text } = await facade.call('GET', `/${name}`);
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("connect-src 'self' wss://media.example.com https://media.example.com;");
  expect(policy).not.toMatch(/unsafe|\*/);
  expect(headers.get('permissions-policy')).toContain('microphone=(self)');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  const addresses = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address ?? '');
  expect(addresses).toEqual([
    LOGO_ADDRESS,
    '/call/style.css',
    '/call',
    '/calls',
    '/docs',
    ...(name === 'calls' ? ['#'] : []),
    `/call/${name}-page.js`,
  ]);
  expect(text).not.toMatch(/<script(?![^>]*src=)|style=|\son\w+=/);
});

it('serves its script and its style, as what they are', async () => {
  const script = await facade.call('GET', '/call/call-page.js');
  expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
  expect(script.headers.get('x-content-type-options')).toBe('nosniff');
  // LiveKit's client is in it, and so is every element that the page has.
  expect(script.text).toContain('lk.transcription');
  expect(script.text).not.toMatch(/\bfrom\s*["'](livekit-client|node:)/);
  const { text } = await facade.call('GET', '/call');
  for (const [, id] of script.text.matchAll(/\("([a-z-]+)",HTML\w*Element\)/g)) expect(text).toContain(`id="${id}"`);
  const calls = { page: (await facade.call('GET', '/calls')).text, script: (await facade.call('GET', '/call/calls-page.js')).text };
  expect(calls.script).not.toContain('lk.transcription');
  for (const [, id] of calls.script.matchAll(/\("([a-z-]+)",HTML\w*Element\)/g)) expect(calls.page).toContain(`id="${id}"`);
  // The page loads LiveKit's client when somebody listens in.
  expect(calls.script).toContain('/call/listen.js');
  const listen = await facade.call('GET', '/call/listen.js');
  expect([listen.status, listen.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
  expect(listen.text).toMatch(/export\{\w+ as join\}/);
  const sheet = await facade.call('GET', '/call/style.css');
  expect([sheet.status, sheet.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
  expect(sheet.text).not.toMatch(/@import|url\(/);
});

it('says what a key may do in calls that go on', async () => {
  const org = await organization(facade);
  const may = async (...permissions: Permission[]): Promise<unknown> =>
    (await facade.call('GET', '/call/permissions', { key: await org.keyWith(...permissions) })).body;
  expect(await may('calls:write')).toEqual({ control: false, listen: false });
  expect(await may('calls:listen')).toEqual({ control: false, listen: true });
  expect(await may('*')).toEqual({ control: true, listen: true });
  expect((await facade.call('GET', '/call/permissions')).status).toBe(401);
});

it('asks a caller for no more than a call has to bring', async () => {
  const org = await organization(facade);
  const dynamicData = [{ name: 'crm', url: 'https://crm.example.com', response: [{ name: 'plan', path: '$.plan' }] }];
  const requiredDynamicData = ['who', 'plan'];
  await kubectl(['apply', '-f', '-'], anAgent('curious', org.name, { displayName: 'Curious', requiredDynamicData, dynamicData }));
  const key = await org.keyWith('calls:create');
  await expect
    .poll(async () => (await org.call('GET', '/call/agents', undefined, { key })).body.data)
    .toEqual([{ ai_agent_id: 'curious', agent_name: 'Curious', required_dynamic_data: ['who'] }]);
});

it('has no other files, and is no part of the interface', async () => {
  for (const path of ['/call/main.ts', '/call/__proto__', '/call/..%2fapp.ts']) expect((await facade.call('GET', path)).status).toBe(404);
  const { body } = await facade.call('GET', '/openapi.json');
  expect(Object.keys(body.paths).filter((path) => path.startsWith('/call') || path.startsWith('/internal'))).toEqual([]);
});
