import type { ServerResponse } from 'node:http';

import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';

import { ocrProfile } from '../../platform/config/profiles.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { eventually } from '../../test/support/eventually.ts';
import { sendJson, Servers, startEndpoint, type TestEndpoint } from '../../test/support/http-servers.ts';
import { openEgress } from '../../test/support/open-egress.ts';
import { createOcr } from './create-ocr.ts';
import type { PageReader } from './page-reader.ts';

const KEY = 'sk-ocr-secret';
const PNG = Buffer.from('the picture of a page');
const servers = new Servers();
let server: TestEndpoint;
let clock: FakeClock;
let registry: Registry;
/** The server's answers to each request in turn; the last one repeats. */
let answers: ((response: ServerResponse) => void)[];

const says =
  (content: string | null, finish_reason = 'stop') =>
  (response: ServerResponse) =>
    sendJson(response, { choices: [{ index: 0, finish_reason, message: { role: 'assistant', content } }] });

beforeEach(async () => {
  clock = new FakeClock();
  answers = [says('# Price list\n\nRoom 12: **89 EUR**')];
  server = await startEndpoint(servers, (response) => (answers.length > 1 ? answers.shift() : answers[0])?.(response));
});
afterEach(() => servers.stop());

function reader(more: object = {}, allowCidrs = ['127.0.0.0/8']): PageReader {
  registry = new Registry();
  const egress = openEgress({ allowCidrs });
  onTestFinished(() => egress.close());
  const profile = ocrProfile.parse({
    provider: 'openai_compatible',
    model: 'sees',
    baseURL: `${server.url}/v1/`,
    apiKeyEnv: 'OCR_KEY',
    ...more,
  });
  const made = createOcr({ profile, egress, env: { OCR_KEY: ` ${KEY}\n` }, clock, registry });
  if (made === undefined) throw new Error('there is no reader');
  return made;
}

it('sends the picture with the key, and gives back what the model transcribes', async () => {
  expect(await reader().read(PNG)).toEqual({ markdown: '# Price list\n\nRoom 12: **89 EUR**' });
  const [request] = server.requests;
  expect(request).toMatchObject({ method: 'POST', url: '/v1/chat/completions', headers: { authorization: `Bearer ${KEY}` } });
  expect(JSON.parse(request?.body ?? '')).toMatchObject({
    model: 'sees',
    messages: [
      {
        role: 'user',
        content: [{ type: 'text' }, { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } }],
      },
    ],
  });
  expect(await registry.metrics()).toContain('parley_ocr_page_seconds_count{provider="openai_compatible",outcome="answered"} 1');
});

it.each([
  ['```markdown\n| a | b |\n|---|---|\n| 1 | 2 |\n```', '| a | b |\n|---|---|\n| 1 | 2 |'],
  ['`EMPTY`', ''],
  [null, ''],
])('takes the text out of what models put around it: %j', async (content, text) => {
  answers = [says(content)];
  expect(await reader().read(PNG)).toEqual({ markdown: text });
});

it.each([
  ['refuses the key', (response: ServerResponse) => sendJson(response, { error: KEY }, 401), 'unauthorized'],
  ['knows no such model', (response: ServerResponse) => sendJson(response, { error: 'model' }, 404), 'refused'],
  ['sends a page', (response: ServerResponse) => void response.end('<h1>Welcome</h1>'), 'invalid_response'],
  ['has no answer', (response: ServerResponse) => sendJson(response, { choices: [] }), 'invalid_response'],
  ['was cut off', says('1 1 1 1 1 1', 'length'), 'invalid_response'],
  ['filters', says('', 'content_filter'), 'refused'],
])('takes nothing for text where the server %s', async (_, answer, outcome) => {
  answers = [answer];
  const failure = await reader()
    .read(PNG)
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: 'OcrError', outcome });
  expect(String(failure)).not.toContain(KEY);
  expect(server.requests).toHaveLength(1);
});

it('asks again where the failure may pass, after the time that the server asks for', async () => {
  answers = [
    (response) => void response.writeHead(429, { 'retry-after': '7' }).end(),
    (response) => void response.writeHead(503).end(),
    says('at last'),
  ];
  const reading = reader().read(PNG);
  await eventually(() => expect(clock.timers).toBe(1));
  expect(clock.nextIn).toBe(7_000);
  await clock.advance(7_000);
  await eventually(() => expect(server.requests).toHaveLength(2));
  await eventually(() => expect(clock.timers).toBe(1));
  await clock.advance(30_000);
  expect(await reading).toEqual({ markdown: 'at last' });
});

it('leaves a server alone that wants a long rest', async () => {
  answers = [(response) => void response.writeHead(429, { 'retry-after': '3600' }).end()];
  await expect(reader().read(PNG)).rejects.toMatchObject({ outcome: 'rate_limited' });
  expect(server.requests).toHaveLength(1);
});

it('sends nothing without its key, nor to an address that the egress guard forbids', async () => {
  await expect(reader({ apiKeyEnv: 'OTHER' }).read(PNG)).rejects.toMatchObject({
    outcome: 'misconfigured',
    message: 'PARLEY_OCR takes its key from the variable OTHER, which is not set',
  });
  await expect(reader({}, []).read(PNG)).rejects.toMatchObject({ outcome: 'misconfigured' });
  expect(server.requests).toHaveLength(0);
});

it('has as many requests under way as the profile allows', async () => {
  const open: ServerResponse[] = [];
  answers = [(response) => void open.push(response)];
  const read = reader({ concurrency: 2 });
  const pages = [1, 2, 3].map(() => read.read(PNG));
  await eventually(() => expect(open).toHaveLength(2));
  answers = [says('text')];
  for (const response of open) says('text')(response);
  expect(await Promise.all(pages)).toEqual([1, 2, 3].map(() => ({ markdown: 'text' })));
  expect(server.requests).toHaveLength(3);
});

it('says what to do where Tesseract is not installed', async () => {
  const ocr = createOcr({
    profile: ocrProfile.parse({ provider: 'tesseract' }),
    egress: openEgress(),
    env: { PATH: '/nowhere' },
    clock,
  });
  await expect(ocr?.read(PNG)).rejects.toMatchObject({ outcome: 'misconfigured', message: expect.stringContaining('install it') });
});

it('is off where no profile is configured', () => {
  expect(createOcr({ profile: undefined, egress: openEgress(), env: {}, clock })).toBeUndefined();
});
