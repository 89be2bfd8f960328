import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Redaction } from './redaction.ts';

describe('Redaction', () => {
  it.each([
    ['as it was sent', 'Bearer s3cr3t+key/with="quotes"'],
    ['without its scheme', 's3cr3t+key/with="quotes"'],
    ['in JSON', JSON.stringify('s3cr3t+key/with="quotes"')],
    ['in JSON that escapes slashes', String.raw`s3cr3t+key\/with=\"quotes\"`],
    ['in an address', encodeURIComponent('s3cr3t+key/with="quotes"')],
    ['in HTML', 's3cr3t+key/with=&quot;quotes&quot;'],
    ['in Base64', Buffer.from('s3cr3t+key/with="quotes"').toString('base64')],
    ['in the other case', 'S3CR3T+KEY/WITH="QUOTES"'],
  ])('hides a secret %s', (_how, text) => {
    const redaction = new Redaction(['Bearer s3cr3t+key/with="quotes"']);
    expect(redaction.text(`<${text}>`)).not.toMatch(/s3cr3t|czNjcjN0/i);
  });

  it('hides the name and the password behind Basic', () => {
    const redaction = new Redaction([`Basic ${Buffer.from('ada:lovelace1815').toString('base64')}`]);
    expect(redaction.value({ user: 'ada:lovelace1815', pw: 'lovelace1815', note: 'ada' })).toEqual({
      user: '********',
      pw: '********',
      note: 'ada',
    });
  });

  it('hides what JSON hides behind escapes, in names and in numbers', () => {
    const redaction = new Redaction(['abcdef', '123456']);
    expect(redaction.value(JSON.parse(String.raw`{"\u0061bcdef": ["x\u0061bcdefx", 123456, 12345]}`))).toEqual({
      '********': ['x********x', '********', 12345],
    });
  });

  it('leaves all as it is without secrets, and does not tear words apart for a short one', () => {
    expect(new Redaction([]).text('abc')).toBe('abc');
    expect(new Redaction(['', 'a', ' ']).value({ a: 'a b' })).toEqual({ a: 'a b' });
  });

  it('finds every secret, whatever it is made of', () => {
    const secret = fc
      .string({ minLength: 4, maxLength: 40, unit: 'binary' })
      .filter((text) => text.trim().length >= 4 && !/^[*\s]+$/.test(text));
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
        const redaction = new Redaction([value]);
        expect(redaction.text(`${before}${value}${after}`).includes('********')).toBe(true);
        expect(redaction.text(value)).not.toContain(value);
      }),
    );
  });
});
