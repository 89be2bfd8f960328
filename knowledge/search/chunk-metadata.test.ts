import { expect, it } from 'vitest';

import { filterableBy } from './chunk-metadata.ts';

const chunk = { headingPath: ['A'], page: 3, sheet: null, firstRow: null, lastRow: null, url: null };
const document = { id: 'doc_1', filename: 'a.pdf', kind: 'file', title: 'Manual', pageOutcomes: null, metadata: {} } as const;

it('is what hits show, with the document, as far as it is a single value', () => {
  expect(filterableBy(document, chunk)).toEqual({ document_id: 'doc_1', filename: 'a.pdf', title: 'Manual', page: 3 });
});

it('is what the owner says, where that has the same name, and never more than a store takes', () => {
  expect(filterableBy({ ...document, metadata: { page: 'iii', year: 2026 } }, chunk)).toMatchObject({ page: 'iii', year: 2026 });
  const metadata = Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`f${index}`, index]));
  expect(Object.keys(filterableBy({ ...document, metadata }, chunk))).toHaveLength(257);
});

it('has the id of the document, whatever the owner says', () => {
  expect(filterableBy({ ...document, metadata: { document_id: 'mine', year: 2026 } }, chunk)).toMatchObject({
    document_id: 'doc_1',
    year: 2026,
  });
});

it('is the title of its own page for a website, and none where that has none', () => {
  const pages = [{ url: 'https://a/1', status: 'fetched', title: 'One' } as const, { url: 'https://a/2', status: 'fetched' } as const];
  const site = { ...document, kind: 'website', title: 'One', pageOutcomes: pages } as const;
  expect(filterableBy(site, { ...chunk, url: 'https://a/1' })).toMatchObject({ title: 'One', url: 'https://a/1' });
  expect(filterableBy(site, { ...chunk, url: 'https://a/2' })).not.toHaveProperty('title');
});
