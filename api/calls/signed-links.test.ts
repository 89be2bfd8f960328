import { describe, expect, it } from 'vitest';

import { testSigning } from '../../test/support/signing.ts';
import { SignedLinks } from './signed-links.ts';

const links = new SignedLinks(testSigning('a secret of the deployment'));
const link = { org: 'acme', callId: 'call_1', expiresAt: 1000 };
const day = 86_400_000;

describe('a signed link', () => {
  it('says what it was written for until its time is over', async () => {
    const token = links.write(link);
    expect(await links.read(token, 999)).toEqual(link);
    expect(await links.read(token, 1000)).toBeUndefined();
    expect(await new SignedLinks(testSigning('a newer secret', 'a secret of the deployment')).read(token, 0)).toEqual(link);
  });

  it('has no more time than a link can have, whatever it claims', async () => {
    expect(await links.read(links.write({ ...link, expiresAt: day }), 0)).toMatchObject({ expiresAt: day });
    for (const expiresAt of [day + 61_000, 10 * day, Infinity])
      expect(await links.read(links.write({ ...link, expiresAt }), 0)).toBeUndefined();
  });

  it('says nothing with any character changed, added or taken away, or in another deployment', async () => {
    const token = links.write(link);
    const changed = Array.from(token, (character, at) => `${token.slice(0, at)}${character === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`);
    const cut = [token.slice(1), token.slice(0, -1), token.slice(0, 43)];
    for (const bad of [...changed, ...cut, `${token}A`, `${token}=`, '', '!', 'A'.repeat(2000)])
      expect(await links.read(bad, 0)).toBeUndefined();
    expect(await new SignedLinks(testSigning('another secret')).read(token, 0)).toBeUndefined();
  });
});
