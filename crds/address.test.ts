import { describe, expect, it } from 'vitest';

import { httpAddress } from './address.ts';

describe('an address', () => {
  it.each([
    'https://example.com',
    'http://localhost:8080/hook?a=[1]&b={c}#@',
    'https://[2001:db8::1]:8443/x',
    'https://bücher.example/ü',
    'https://user.example.com/@someone',
    'https://{{region}}.example.com:{{port}}/orders/{number}',
    'https://{host}/',
    'http://{{host}}',
  ])('may be %s', (address) => {
    expect(httpAddress(address, 'p')).toEqual([]);
  });

  it.each([
    'http://',
    'https:///path',
    'https://?a=b',
    'http://[',
    'http://[x]/',
    'https://exa mple.com',
    'https://example.com\\[x',
    'https://a]b/',
    'https://example.com:port/',
    'https://example.com:99999',
    'https://a<b>/',
  ])('is not %s', (address) => {
    expect(httpAddress(address, 'p')).toEqual([
      {
        path: 'p',
        message: 'is not an address that can be called: after http:// or https:// a host is needed, as in https://example.com/path',
      },
    ]);
  });

  it.each(['https://user:password@example.com/', 'https://user@example.com', 'http://[@example.com'])(
    'holds no credentials: %s',
    (address) => {
      const [problem] = httpAddress(address, 'p');
      expect(problem?.message).toContain('send credentials in a header');
      expect(problem?.message).not.toContain('password@');
    },
  );

  it('may be absent, and is not judged where its schema refuses it', () => {
    expect(httpAddress(undefined, 'p')).toEqual([]);
    expect(httpAddress('ftp://example.com', 'p')).toEqual([]);
  });
});
