import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { isObjectName, readableName, suffixOf } from './names.ts';

describe('readableName', () => {
  it.each([
    ['Night Porter', 'night-porter-abcdefgh'],
    ['Réception (Zürich) #2', 'reception-zurich-2-abcdefgh'],
    ['find_booking', 'find-booking-abcdefgh'],
    ['--x--', 'x-abcdefgh'],
    ['পণ্যের নির্দেশিকা', 'agent-abcdefgh'],
    ['', 'agent-abcdefgh'],
    [undefined, 'agent-abcdefgh'],
    ['a'.repeat(39) + ' tail', `${'a'.repeat(39)}-abcdefgh`],
  ])('%j becomes %s', (label, name) => {
    expect(readableName('agent', label, 'abcdefgh')).toBe(name);
  });

  it('is the name of an object whatever the label, apart from others by its suffix', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (label) => {
        const name = readableName('agent', label);
        expect(isObjectName(name)).toBe(true);
        expect(name.length).toBeLessThanOrEqual(49);
        expect(suffixOf(name)).toMatch(/^[a-z2-7]{8}$/);
        expect(readableName('agent', label)).not.toBe(name);
      }),
    );
  });
});
