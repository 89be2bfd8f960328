import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { fillAddress, withQuery } from './address.ts';

const urlOf = (template: string, data: Record<string, unknown>, parameters?: Record<string, unknown>) => {
  const filled = fillAddress(template, { data, ...(parameters && { parameters }) });
  return 'url' in filled ? filled.url : filled.problem;
};

describe('fillAddress', () => {
  it.each([
    ['https://a.example/x/{id}', { id: 7 }, 'https://a.example/x/7'],
    ['https://a.example/x/{ id }/y', { id: 'a b/ü?#&' }, 'https://a.example/x/a%20b%2F%C3%BC%3F%23%26/y'],
    ['https://a.example/{{tenant}}/{id}', { id: 'x' }, 'https://a.example/t%201/x'],
    ['https://a.example/x?q={q}&t={{tenant}}', { q: 'a&b=c' }, 'https://a.example/x?q=a%26b%3Dc&t=t%201'],
    ['https://{{host}}/x#frag', {}, 'https://a.example:8080/x'],
    ['http://{region}.example/x', { region: 'eu' }, 'http://eu.example/x'],
    ['http://{region}.example/x', { region: 'evil.com/' }, 'http://evil.com%2F.example/x'],
    ['https://a.example/v{version}/{id}.json', { version: 2, id: true }, 'https://a.example/v2/true.json'],
    ['https://a.example', {}, 'https://a.example'],
    ['https://a.example/x?filter={"a":1}&q={q}', { q: 'ü' }, 'https://a.example/x?filter={"a":1}&q=%C3%BC'],
    ['https://a.example?x={id}', { id: '' }, 'https://a.example?x='],
  ])('%s with %j is %s', (template, parameters, url) => {
    expect(urlOf(template, { tenant: 't 1', host: 'a.example:8080' }, parameters)).toBe(url);
  });

  it.each([
    ['https://a.example/x/{id}', {}, /"id" is missing/],
    ['https://a.example/x/{id}', { id: null }, /"id" is missing/],
    ['https://a.example/x/{id}', { id: '' }, /empty.*"id"/],
    ['https://a.example/x/{id}', { id: '..' }, /"id" can't be/],
    ['https://a.example/x/{id}', { id: '.' }, /"id" can't be/],
    ['https://a.example/x/%2e{id}', { id: '.' }, /can't be/],
    ['https://a.example/x/{id}', { id: ['a'] }, /text or a number/],
    ['https://a.example/x/{{nobody}}/y', {}, /empty.*"nobody"/],
    ['https://a.example/x/{toString}', {}, /missing/],
  ])('%s with %j is refused', (template, parameters, problem) => {
    expect(urlOf(template, {}, parameters)).toMatch(problem);
  });

  it('stays with the domain that is written out, whatever a placeholder in front of it becomes', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl(), fc.constantFrom('b.example/', 'b.example#', '@b.example', '／', '＃x', 'a:1')),
        (tenant) => {
          const filled = fillAddress('https://{{tenant}}.a.example/x', { data: { tenant } });
          const url = 'url' in filled ? URL.parse(filled.url) : null;
          expect(url === null || url.host.endsWith('.a.example')).toBe(true);
        },
      ),
    );
  });

  it('takes no Secret along where a placeholder decides who is called', () => {
    const headers = [{ valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }];
    const filled = (template: string) => fillAddress(template, { data: { host: 'b.example' }, headers });
    expect(filled('https://{{host}}/x')).toMatchObject({ problem: expect.stringMatching(/write the domain out/) });
    expect(filled('https://{{host}}.a.example/x')).toMatchObject({ url: 'https://b.example.a.example/x' });
  });

  it('leaves single braces alone where there are no parameters', () => {
    expect(urlOf('https://a.example/{id}/{{id}}', { id: 5 })).toBe('https://a.example/{id}/5');
  });

  it('keeps every value within its own part of the address', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (id, q) => {
        const filled = fillAddress('https://a.example/x/{id}/y?q={{q}}', { data: { q }, parameters: { id } });
        if ('problem' in filled) {
          expect(['', '.', '..']).toContain(id);
          return;
        }
        const url = new URL(filled.url);
        expect([url.origin, url.pathname.split('/').length]).toEqual(['https://a.example', 4]);
        expect(decodeURIComponent(url.pathname.split('/')[2] ?? '')).toBe(id.toWellFormed());
        expect([...url.searchParams.keys()]).toEqual(['q']);
      }),
    );
  });
});

describe('withQuery', () => {
  it('adds values, lists value by value, objects as JSON, and leaves out what there is none of', () => {
    const url = withQuery(
      'https://a.example/x?keep=1&id=2',
      { id: [3, 'a&b'], o: { a: 1 }, none: null, gone: undefined, keep: 9 },
      { keep: new Set(['keep']) },
    );
    expect([...new URL(url).searchParams]).toEqual([
      ['keep', '1'],
      ['id', '3'],
      ['id', 'a&b'],
      ['o', '{"a":1}'],
    ]);
  });
});
