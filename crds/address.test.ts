import { describe, expect, it } from 'vitest';

import { hasOpenHost, httpAddress, originOf } from './address.ts';

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

describe('the origin of an address', () => {
  it.each([
    ['https://A.example:443/x?y#z', 'https://a.example'],
    ['http://a.example', 'http://a.example'],
    ['http://a.example:8080/', 'http://a.example:8080'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example'],
    ['https://{{Region}}.a.example:443/x', 'https://{{Region}}.a.example:443'],
  ])('of %s is %s', (address, origin) => expect(originOf(address)).toBe(origin));

  it.each([
    'https://{{host}}/x',
    'https://a.{{b}}',
    'https://{{a}}.example',
    'https://a.{b}.example',
    'https://a.example:{{port}}',
    'https://{{a}}b.example',
  ])('of %s is decided by a placeholder', (address) => expect(hasOpenHost(address)).toBe(true));

  it.each(['https://a.example/{{x}}', 'https://{{region}}.a.example:8443/{id}', 'http://localhost', 'https://x.{y}.a.example?{z}'])(
    'of %s stands in the address',
    (address) => expect(hasOpenHost(address)).toBe(false),
  );
});
