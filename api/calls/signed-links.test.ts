import { describe, expect, it } from 'vitest';

import { recordingLinkKey, SignedLinks } from './signed-links.ts';

const links = new SignedLinks(recordingLinkKey('a secret of the deployment'));
const link = { org: 'acme', callId: 'call_1', expiresAt: 1000 };

describe('a signed link', () => {
  it('says what it was written for until its time is over', () => {
    const token = links.write(link);
    expect(links.read(token, 999)).toEqual(link);
    expect(links.read(token, 1000)).toBeUndefined();
    expect(new SignedLinks(recordingLinkKey('a secret of the deployment')).read(token, 0)).toEqual(link);
  });

  it('says nothing with any character changed, added or taken away, or in another deployment', () => {
    const token = links.write(link);
    const changed = Array.from(token, (character, at) => `${token.slice(0, at)}${character === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`);
    for (const bad of [
      ...changed,
      token.slice(1),
      token.slice(0, -1),
      `${token}A`,
      `${token}=`,
      '',
      '!',
      token.slice(0, 43),
      'A'.repeat(2000),
    ])
      expect(links.read(bad, 0)).toBeUndefined();
    expect(new SignedLinks(recordingLinkKey('another secret')).read(token, 0)).toBeUndefined();
  });
});
