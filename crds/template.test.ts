import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { fillTemplate, fillValue, lookUp } from './template.ts';

describe('fillTemplate', () => {
  it.each([
    ['Hello {{name}}', 'Hello Ada'],
    ['Hello {{ name }}, {{name}}', 'Hello Ada, Ada'],
    ['{{n}} of {{yes}}', '42 of true'],
    ['{{address.city}} {{orders.1.id}}', 'London 8'],
    ['{{a.b}}', 'flat'],
    ['[{{nobody}}] [{{nil}}] [{{address.street}}] [{{name.length}}]', '[] [] [] []'],
    ['{{address}}', '{"city":"London"}'],
    ['{{constructor}}{{__proto__}}{{orders.length}}{{toString}}', ''],
    ['no placeholder: {name} {{}} {{ {name} }} {{name', 'no placeholder: {name} {{}} {{ {name} }} {{name'],
    ['{{{name}}}', '{Ada}'],
    ['{{kü.n-1 x}}', 'odd'],
  ])('%s → %s', (text, filled) => {
    const data = {
      name: 'Ada',
      n: 42,
      yes: true,
      nil: null,
      address: { city: 'London' },
      orders: [{ id: 7 }, { id: 8 }],
      'a.b': 'flat',
      a: { b: 'deep' },
      'kü.n-1 x': 'odd',
    };
    expect(fillTemplate(text, data)).toBe(filled);
  });

  it('never reads what a value brings along', () => {
    const data = { a: '{{secret}}', b: '$& $1 $$', c: '}}{{secret}}', open: '{{', secret: 'hidden' };
    expect(fillTemplate('{{a}} {{b}} {{c}} {{open}}secret}}', data)).toBe('{{secret}} $& $1 $$ }}{{secret}} {{secret}}');
  });

  it('puts each value where its name stands, and leaves all else as it is', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_ -]{1,12}$/).filter((text) => text.trim() === text && text !== '');
    const plain = fc.string().filter((text) => !text.includes('{') && !text.includes('}'));
    fc.assert(
      fc.property(fc.array(fc.tuple(plain, name, fc.string())), plain, (parts, end) => {
        const data = Object.fromEntries(parts.map(([, key, value]) => [key, value]));
        const text = parts.map(([before, key]) => `${before}{{${key}}}`).join('') + end;
        const filled = parts.map(([before, key]) => before + String(lookUp(key, data))).join('') + end;
        expect(fillTemplate(text, data)).toBe(filled);
      }),
    );
  });

  it('is not held up by braces without end', () => {
    // A reader that looks twice at each brace takes a day.
    const texts = ['{{'.repeat(100_000), '{{ '.repeat(100_000), `{{${' '.repeat(200_000)}`];
    expect(texts.map((text) => fillTemplate(text, { x: 1 }) === text)).toEqual([true, true, true]);
  });
});

describe('fillValue', () => {
  it('keeps the type of a value that stands for a whole string', () => {
    const data = { n: 5, list: [1, 'a'], name: 'Ada', nil: null };
    expect(
      fillValue(
        { a: '{{n}}', b: ' {{ list }} ', c: 'is {{n}}', d: ['{{name}}', '{{nobody}}'], e: '{{nobody}}', f: '{{nil}}', g: 1, h: null },
        data,
      ),
    ).toEqual({
      a: 5,
      b: [1, 'a'],
      c: 'is 5',
      d: ['Ada', null],
      f: null,
      g: 1,
      h: null,
    });
  });

  it('fills no names, and makes no prototypes', () => {
    const filled = fillValue(JSON.parse('{"{{name}}": 1, "__proto__": {"x": "{{name}}"}}'), { name: 'Ada' });
    expect(JSON.stringify(filled)).toBe('{"{{name}}":1,"__proto__":{"x":"Ada"}}');
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('leaves JSON without placeholders as it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!JSON.stringify(value).includes('{{'));
        expect(fillValue(value, { a: 1 })).toEqual(value);
      }),
    );
  });
});
