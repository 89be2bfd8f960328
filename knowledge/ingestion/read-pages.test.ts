import { expect, it } from 'vitest';

import type { DocumentRecord } from '../../store/index.ts';
import type { Block } from '../parsing/index.ts';
import { readPages, type ReadPart } from './read-pages.ts';

const paragraph = (text: string, more: object = {}): Block => ({ kind: 'paragraph', text, headingPath: [], ...more });

it('reads what stands beside the text of several pages once', async () => {
  const urls = ['https://shop.example/a', 'https://shop.example/b'];
  const pageOutcomes = urls.map((url) => ({ url, status: 'fetched', objectKey: url, extension: 'html' }));
  const dependencies = { knowledge: { ingestion: { pageOutcomes: async () => {} } }, storage: { read: async () => undefined } };
  const read = async function* (part: { readonly url?: string }) {
    yield [paragraph(`Text of ${part.url}`), paragraph('Welcome.'), paragraph('Open from 9 to 5.', { isAside: true })];
    return { warnings: [] };
  };
  const blocks: Block[] = [];
  const parts = readPages({ pageOutcomes } as unknown as DocumentRecord, dependencies as never, read as unknown as ReadPart);
  for await (const batch of parts) blocks.push(...batch);
  expect(blocks.map((block) => [block.url, 'text' in block && block.text])).toEqual([
    [urls[0], `Text of ${urls[0]}`],
    [urls[0], 'Welcome.'],
    [urls[0], 'Open from 9 to 5.'],
    [urls[1], `Text of ${urls[1]}`],
    [urls[1], 'Welcome.'],
  ]);
});
