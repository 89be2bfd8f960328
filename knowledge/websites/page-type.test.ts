import { expect, it } from 'vitest';

import { pageType } from './page.ts';

const typeOf = (body: string): string => {
  try {
    return pageType(Buffer.from(body), undefined).extension;
  } catch {
    return 'unsupported';
  }
};

it.each([
  ['<!-- one --> <!-- two > --><html>', 'html'],
  ['\u{feff} <!doctype html>', 'html'],
  ['<!-- <html> -->text', 'unsupported'],
  ['<!-- <html>', 'unsupported'],
  ['text <html>', 'unsupported'],
])('reads a page without a type that begins with %s as %s', (body, type) => {
  expect(typeOf(body)).toBe(type);
});

it('reads each comment before a page in one way only', () => {
  // Each further comment would double the time.
  expect(typeOf('<!---->'.repeat(140))).toBe('unsupported');
});
