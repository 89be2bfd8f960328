import { expect, it } from 'vitest';

import { isSparse, noTextFailure, unreadWarnings } from './unread-pages.ts';

it('takes a picture of a whole page with a stamp for a scan, and neither a page of text nor a short page', () => {
  expect(isSparse(['Copy 3 of 4', 'received'], 0.9)).toBe(true);
  expect(isSparse(['The workshop opens at nine and closes at six in the evening'], 0.9)).toBe(false);
  expect(isSparse(['Part two'], 0.1)).toBe(false);
});

it('names the pages of each kind', () => {
  expect(
    unreadWarnings([
      { page: 1, reason: 'illegible' },
      { page: 2, reason: 'empty' },
      { page: 3, reason: 'empty' },
      { page: 7, reason: 'sparse' },
    ]),
  ).toEqual([
    'left out: pages whose fonts do not say which characters they show: 1; export it with another program, or have their text recognised (OCR)',
    'pages without text, perhaps scanned pictures: 2-3',
    'pages with next to no text beside a picture, perhaps scanned: 7',
  ]);
  expect(unreadWarnings([])).toEqual([]);
});

it('blames the fonts where there are some', () => {
  expect(noTextFailure([{ page: 1, reason: 'empty' }]).message).toContain('pictures of pages');
  expect(
    noTextFailure([
      { page: 1, reason: 'empty' },
      { page: 2, reason: 'illegible' },
    ]).message,
  ).toContain('fonts');
});
