import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseRobots } from './robots.ts';

const allows = (text: string, path: string, agent = 'Parley'): boolean => parseRobots(text, agent).allows(path);
const lines = (...all: readonly string[]): string => all.join('\n');

describe('robots.txt', () => {
  it('allows everything where it says nothing', () => {
    for (const text of [
      '',
      '\n\n',
      '# nothing',
      '<!doctype html><html>not: found</html>',
      'User-agent: *',
      lines('User-agent: *', 'Disallow:'),
    ])
      expect(allows(text, '/a')).toBe(true);
  });

  it('knows the group of its own name, then that of everyone', () => {
    const text = lines(
      'User-agent: *',
      'Disallow: /',
      '',
      'User-agent: Other',
      'Disallow: /other',
      '',
      'user-agent: parley',
      'Disallow: /private',
    );
    expect(allows(text, '/a')).toBe(true);
    expect(allows(text, '/other')).toBe(true);
    expect(allows(text, '/private/x')).toBe(false);
    expect(allows(text, '/a', 'Stranger')).toBe(false);
    expect(allows(lines('User-agent: Parley/1.0', 'Disallow: /'), '/')).toBe(false);
    expect(allows(lines('User-agent: ParleyBot', 'Disallow: /'), '/')).toBe(true);
    // A group of its own without rules counts.
    expect(allows(lines('User-agent: *', 'Disallow: /', 'User-agent: Parley'), '/')).toBe(true);
  });

  it('joins groups of the same name and lets several names share one', () => {
    const text = lines(
      'User-agent: a',
      'User-agent: Parley',
      'Crawl-delay: 2',
      'Disallow: /one',
      'User-agent: b',
      'Disallow: /b',
      'User-agent: PARLEY',
      'Disallow: /two',
    );
    expect(allows(text, '/one')).toBe(false);
    expect(allows(text, '/two')).toBe(false);
    expect(allows(text, '/b')).toBe(true);
    expect(parseRobots(text, 'Parley').crawlDelayMs).toBe(2000);
    expect(parseRobots(text, 'b').crawlDelayMs).toBe(0);
    // Other lines don't end a list of names.
    expect(allows(lines('User-agent: Parley', 'Sitemap: https://x.example/s.xml', 'User-agent: b', 'Disallow: /'), '/')).toBe(false);
  });

  it('lets the longest pattern decide, and of equals the one that allows', () => {
    const text = lines('User-agent: *', 'Disallow: /a', 'Allow: /a/b', 'Disallow: /a/b/c', 'Allow: /same', 'Disallow: /same');
    expect(allows(text, '/a/x')).toBe(false);
    expect(allows(text, '/a/b/x')).toBe(true);
    expect(allows(text, '/a/b/c')).toBe(false);
    expect(allows(text, '/same')).toBe(true);
  });

  it.each([
    ['/fish', '/fish.html', true],
    ['/fish', '/Fish', false],
    ['/fish*', '/fishheads/x', true],
    ['/fish/', '/fish', false],
    ['/*.php', '/a/b.php?x', true],
    ['/*.php$', '/a/b.php?x', false],
    ['/*.php$', '/a/b.php', true],
    ['/*.php$', '/a.php/b.php', true],
    ['/a*a$', '/a', false],
    ['/a$', '/a', true],
    ['/a$', '/ab', false],
    ['/*/x*/y', '/1/x2/y3', true],
    ['/*/x*/y', '/1/y2/x3', false],
    ['*', '/anything', true],
    ['$', '/', false],
    ['/a$b', '/a$b', true],
    ['/a%24', '/a$', true],
    ['/a%2A', '/a*b', true],
    ['/ü', '/%C3%BC', true],
    ['/%c3%bc', '/%C3%BC', true],
    ['/%61', '/a', true],
    ['/a%2Fb', '/a/b', false],
    ['/?q=', '/?q=1', true],
    ['/বাংলা', '/%E0%A6%AC%E0%A6%BE%E0%A6%82%E0%A6%B2%E0%A6%BE/x', true],
  ])('%s against %s: %s', (pattern, path, matched) => {
    expect(allows(lines('User-agent: *', `Disallow: ${pattern}`), path)).toBe(!matched);
  });

  it('is read with any line end, a byte order mark, comments and spaces', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = `\u{feff}User-Agent : Parley # us${end}${end}  DISALLOW:/a # not this${end}#Disallow: /b${end}Disallow /c`;
      expect([allows(text, '/a'), allows(text, '/b'), allows(text, '/c')]).toEqual([false, true, true]);
    }
  });

  it.each(['-1', 'x', '', '0', 'NaN'])('takes a crawl delay of %j for none', (value) => {
    expect(parseRobots(lines('User-agent: *', `Crawl-delay: ${value}`), 'Parley').crawlDelayMs).toBe(0);
  });

  it('matches as the regular expression does that the pattern stands for', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.'), maxLength: 12 });
    const pattern = fc.tuple(fc.array(text, { minLength: 1, maxLength: 4 }), fc.boolean());
    fc.assert(
      fc.property(pattern, text, ([parts, whole], path) => {
        const written = `/${parts.join('*')}${whole ? '$' : ''}`;
        const expression = new RegExp(`^/${parts.map((part) => part.replaceAll('.', '\\.')).join('.*')}${whole ? '$' : ''}`);
        expect([written, path, !allows(lines('User-agent: *', `Disallow: ${written}`), `/${path}`)]).toEqual([
          written,
          path,
          expression.test(`/${path}`),
        ]);
      }),
      { numRuns: 2000 },
    );
  });

  it('stays small and quick with files that mean harm', () => {
    const size = 500 * 1024;
    const path = `/${'a'.repeat(2000)}`;
    const hostile = [
      `User-agent: *\nDisallow: /${'*a'.repeat(size / 2)}b`,
      `User-agent: *\n${'Disallow: /*a*a*a*a*b\n'.repeat(size / 22)}`,
      `${Array.from({ length: 15_000 }, (_, index) => `User-agent: b${index}`).join('\n')}\n${'Disallow: /a\n'.repeat(15_000)}`,
      `User-agent: *\nDisallow: /${'%'.repeat(size)}`,
      `User-agent: *\nDisallow: /${'ü\u{d800}'.repeat(size / 4)}`,
      ':'.repeat(size),
      '#'.repeat(size),
      '\n'.repeat(size),
    ];
    for (const text of hostile) expect(allows(text, path)).toBe(true);
  });
});
