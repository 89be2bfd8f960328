import { expect, it } from 'vitest';

import { fitHelp } from './fit-help.ts';

it('joins and wraps prose that is too long', () => {
  expect(fitHelp('Usage: parley x\n\nThis goes\nover the width of the terminal.\n', 20)).toBe(
    'Usage: parley x\n\nThis goes over the\nwidth of the\nterminal.\n',
  );
});

it('leaves short prose, options and examples as they are', () => {
  const text = 'Short.\nAlso short.\n\nExamples:\n  parley keys create --org acme --name first\n';
  expect(fitHelp(text, 20)).toBe(text);
});

it('wraps prose beside what is indented', () => {
  expect(fitHelp('Give one of these two:\n  the first one of them\nand then go on with it.', 12)).toBe(
    'Give one of\nthese two:\n  the first one of them\nand then go\non with it.',
  );
});
