import { expect, it } from 'vitest';

import type { DocumentRecord } from '../../store/index.ts';
import { documentToRest } from './document-codec.ts';

it('shows an address with the outcome of the page that it leads to', () => {
  const [first, second] = ['https://x.example/faq#shipping', 'https://x.example/faq#returns'];
  const time = new Date(0);
  const document = {
    status: 'completed',
    stage: 'completed',
    urls: [first, second, 'https://x.example/other'],
    pageOutcomes: [{ url: first, status: 'fetched' }],
    createdAt: time,
    updatedAt: time,
  } as unknown as DocumentRecord;
  expect(documentToRest(document, 'kb')['page_urls']).toEqual([
    { url: first, status: 'fetched' },
    { url: second, status: 'fetched' },
    { url: 'https://x.example/other', status: 'pending' },
  ]);
});
