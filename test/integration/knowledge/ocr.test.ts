/** Takes a scan through the whole pipeline, with a server that sees: its text is found, with its page and a warning. */
import { afterAll, expect, it } from 'vitest';

import { makePdf } from '../../support/documents/make-pdf.ts';
import { scanned } from '../../support/documents/scan-pdf.ts';
import { sendJson, Servers, startEndpoint } from '../../support/http-servers.ts';
import { knowledgeHarness } from './harness.ts';

const servers = new Servers();
afterAll(() => servers.stop());

it('finds what a scanned page says, and asks for each page once', async () => {
  const texts = ['# Fees\n\nA lost key costs 45 euros.', 'The sauna opens at five.'];
  const server = await startEndpoint(servers, (response) =>
    sendJson(response, { choices: [{ finish_reason: 'stop', message: { content: texts.shift() ?? 'too many' } }] }),
  );
  const profile = { provider: 'openai_compatible', model: 'sees', baseURL: server.url, concurrency: 1 };
  const harness = await knowledgeHarness({ env: { PARLEY_OCR: JSON.stringify(profile) } });
  const pdf = await scanned(makePdf([[{ text: 'A lost key costs 45 euros.', y: 700 }], [{ text: 'The sauna opens at five.', y: 700 }]]));
  const document = await harness.ended(await harness.add('house-rules.pdf', pdf));
  expect(document).toMatchObject({
    status: 'completed',
    warnings: ['text of pages 1-2 was recognised from pictures (OCR): check names and numbers that matter'],
  });
  expect((await harness.search('lost key'))[0]).toMatchObject({ content: expect.stringContaining('45 euros'), metadata: { page: 1 } });
  expect((await harness.search('sauna'))[0]).toMatchObject({ metadata: { page: 2 } });
  expect(server.requests).toHaveLength(2);
});
