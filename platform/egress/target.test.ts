import { describe, expect, it } from 'vitest';

import { openEgress } from '../../test/support/open-egress.ts';
import { parsePorts } from './ports.ts';

const egress = openEgress();
const local = openEgress({ allowCidrs: ['127.0.0.0/8'], allowedPorts: '443,8000-9000' });

describe('an address as a user writes it', () => {
  it.each([
    'https://example.com',
    'http://example.com/a?b=c#d',
    'https://EXAMPLE.com:8443/',
    'https://example.com./',
    'https://bücher.example/straße',
    'https://xn--bcher-kva.example/',
    'https://a_b.example.com/@user',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://example.com/?mail=a@b.example&path=\\x',
    'https://1.1.1.1.example.com/',
  ])('%s is fine', (url) => {
    expect(egress.check(url)).toBeUndefined();
  });

  it.each([
    '',
    'example.com',
    '//example.com/',
    'https://',
    'https:///',
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'javascript:alert(1)',
    'data:text/html,x',
    'ws://example.com/',
    'https://user@example.com/',
    'https://user:password@example.com/',
    'https://:@example.com/',
    'https://@example.com/',
    'https://example.com@127.0.0.1/',
    'https://exa mple.com/',
    ' https://example.com/',
    'https://example.com/\n',
    'https://exam\tple.com/',
    'https://example.com/\0',
    'https:\\\\example.com\\',
    'https://example.com\\@127.0.0.1/',
    'https://[fe80::1%25eth0]/',
    'https://[fe80::1%eth0]/',
    'https://[::1/',
    'https://1.2.3.4.5/',
    'https://256.256.256.256/',
    'https://example..com/',
    'https://-example.com/',
    'https://exa!mple.com/',
    `https://${'a'.repeat(64)}.example/`,
    `https://${'a.'.repeat(130)}example/`,
    'https://example.com:99999/',
    'https://example.com:0/',
    'https://example.com:22/',
    'https://example.com:25/',
    'http://example.com:6379x/',
  ])('%j is refused as it is written', (url) => {
    expect(egress.check(url)?.kind).toBe('forbidden_url');
  });

  it.each([
    'http://localhost/',
    'http://LOCALHOST:8080/',
    'http://localhost./',
    'http://a.localhost/',
    'http://127.0.0.1/',
    'http://0/',
    'http://0.0.0.0:8080/',
    'http://[::]/',
    'http://[::1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://168.63.129.16/',
    'http://10.0.0.1:6443/',
  ])('%s is refused for where it leads', (url) => {
    expect(egress.check(url)).toMatchObject({
      kind: 'forbidden_address',
      message: expect.stringContaining('PARLEY_EGRESS_ALLOW_CIDRS') as string,
    });
  });

  it('says what is wrong and what to do, without the credentials', () => {
    expect(egress.check('https://user:geheim@example.com/')?.message).not.toContain('geheim');
    expect(egress.check('https://example.com:22/')?.message).toBe(
      'port 22 of example.com may not be called, only 80, 443 and 1024-65535: use one of these, or have the operator allow it (PARLEY_EGRESS_PORTS)',
    );
    expect(local.check('http://localhost:9001/')?.message).toContain('only 443 and 8000-9000: ');
    expect(egress.check(`https://${'x'.repeat(5000)}`)?.message.length).toBeLessThan(400);
  });

  it('may be on this machine where the operator allows it, at the ports that are allowed', () => {
    expect(local.check('http://localhost:8080/')).toBeUndefined();
    expect(local.check('http://127.0.0.1:8080/')).toBeUndefined();
    expect(local.check('https://x.localhost/')).toBeUndefined();
    expect(local.check('http://localhost/')?.kind).toBe('forbidden_url');
    expect(local.check('http://localhost:9001/')?.kind).toBe('forbidden_url');
    expect(local.check('http://[::1]:8080/')?.kind).toBe('forbidden_address');
  });
});

describe('the ports', () => {
  it('are single ones and ranges', () => {
    expect(parsePorts('80, 443,1024-65535')).toEqual([
      { from: 80, to: 80 },
      { from: 443, to: 443 },
      { from: 1024, to: 65_535 },
    ]);
  });
  it.each(['', '80,', '0', '65536', '90-80', 'http', '80-', '-80', '1.5'])('%j is refused', (text) => {
    expect(() => parsePorts(text)).toThrow(RangeError);
  });
});
