import { describe, expect, it } from 'vitest';

import { looksSecret } from './headers.ts';

describe('looksSecret', () => {
  it.each(['Authorization', 'x-auth', 'X-Api-Key', 'apikey', 'X-Access-Token', 'Cookie', 'X-Session-Id', 'X-Hub-Signature', 'DB-Pwd'])(
    'takes %s for the name of a credential',
    (name) => expect(looksSecret(name)).toBe(true),
  );

  it.each(['Accept', 'X-Author', 'X-Tenant', 'Content-Type', 'X-Request-Id'])('takes %s for an ordinary header', (name) =>
    expect(looksSecret(name)).toBe(false),
  );
});
