import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { redactionKinds, type RedactionKind } from '../../crds/redaction.ts';
import { isCard } from './finders.ts';
import { Redactor, type RedactorOptions } from './redactor.ts';

const THIS_YEAR = 2026;

function redactorOf(language = 'en-US', spec: RedactorOptions['spec'] = { kinds: [...redactionKinds] }): Redactor {
  return new Redactor({ spec, language, thisYear: THIS_YEAR });
}

const redacted = (text: string, language?: string): string => redactorOf(language).redact(text);

describe('a card', () => {
  it.each([
    ['My card is 4242424242424242.', 'My card is [card].'],
    ['4242 4242 4242 4242 please', '[card] please'],
    ['It is 4242-4242-4242-4242, 12/27.', 'It is [card], 12/27.'],
    ['four two four two four two four two four two four two four two four two', '[card]'],
    ['forty-two forty-two forty two forty two forty-two forty-two forty-two forty-two', '[card]'],
    ['double four, that is 4 2 4 2 4 2 4 2 4 2 4 2 4 2 4 2', 'double four, that is [card]'],
    ['three seven eight two, eight two two four, six three one double zero oh five', '[card]'],
    ['[pressed 4242424242424242]', '[pressed [card]]'],
    ['٤٢٤٢ ٤٢٤٢ ٤٢٤٢ ٤٢٤٢', '[card]'],
  ])('is found in %j', (text, expected) => {
    expect(redacted(text)).toBe(expected);
  });

  it.each([
    ['de-DE', 'zweiundvierzig zweiundvierzig zweiundvierzig zweiundvierzig zweiundvierzig zweiundvierzig zweiundvierzig zweiundvierzig'],
    ['de-DE', 'vier zwo vier zwo, vier zwei vier zwei, vier zwei vier zwei und vier zwei vier zwei'],
    ['es-ES', 'cuatro dos cuatro dos cuatro dos cuatro dos cuatro dos cuatro dos cuatro dos cuatro dos'],
    ['fr-FR', 'quarante-deux quarante-deux quarante-deux quarante-deux quarante-deux quarante-deux quarante-deux quarante-deux'],
    ['it-IT', 'quattro due quattro due quattro due quattro due quattro due quattro due quattro due quattro due'],
  ])('is found in the words of %s', (language, text) => {
    expect(redacted(text, language)).toBe('[card]');
  });

  it('is found however its digits are grouped', () => {
    const separator = fc.constantFrom(' ', '-', ' - ', '. ', ', ');
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), separator), { minLength: 16, maxLength: 16 }), (cuts) => {
        let text = '';
        let left = '4242424242424242';
        for (const [length, sign] of cuts) {
          text += `${left.slice(0, length)}${left.length > length ? sign : ''}`;
          left = left.slice(length);
        }
        expect(redacted(`So: ${text}`)).toBe('So: [card]');
      }),
    );
  });

  it('has its check digit', () => {
    expect(redacted('The order is 4242424242424241.')).toBe('The order is 4242424242424241.');
  });

  it('is known again by a part of it', () => {
    const redactor = redactorOf();
    redactor.redact('4242 4242 4242 1234 is wrong, 5555 5555 5555 4444 is right.');
    expect(redactor.redact('It ends in 4444, or four four four four.')).toBe('It ends in [card], or [card].');
    expect(redactor.redact('In 2019, or 44 times.')).toBe('In 2019, or 44 times.');
  });
});

describe('other numbers', () => {
  it.each<[string, string]>([
    ['DE89 3704 0044 0532 0130 00, thanks', '[iban], thanks'],
    ['GB29NWBK60161331926819', '[iban]'],
    ['D E eight nine three seven zero four zero zero four four zero five three two zero one three zero zero zero', '[iban]'],
    ['Call +49 30 901820 or +1 (202) 555-0199.', 'Call [phone] or [phone].'],
    ['Call me at (202) 555-0199', 'Call me at [phone]'],
    ['202-555-0199, 202.555.0199, 2025550199', '[phone], [phone], [phone]'],
    ['030 / 901 820 42', '[phone]'],
    ['plus four nine, one seven one, two three four five six', '[phone]'],
    ['two zero two five five five zero one nine nine', '[phone]'],
    ['Write to Jane.Doe+x@mail.example.co.uk!', 'Write to [email]!'],
    ['jane dot doe at example dot com', '[email]'],
    ['born on 5/14/1984', 'born on [birth date]'],
    ['14.05.1984', '[birth date]'],
    ['1984-05-14', '[birth date]'],
    ['on the 14th of May 1984', 'on the [birth date]'],
    ['May 14, 1984', '[birth date]'],
    ['my date of birth is the fourteenth of May nineteen eighty-four', 'my date of birth is [birth date]'],
  ])('are found in %j', (text, expected) => {
    expect(redacted(text)).toBe(expected);
  });

  it.each<[string, string, string]>([
    ['de-DE', 'jana punkt doe at beispiel punkt de', '[email]'],
    ['de-DE', 'geboren am 14. Mai 1984', 'geboren am [birth date]'],
    ['fr-FR', 'né le 14 mai 1984', 'né le [birth date]'],
    ['es-ES', 'el 14 de mayo de 1984', 'el [birth date]'],
  ])('are found in the words of %s: %j', (language, text, expected) => {
    expect(redacted(text, language)).toBe(expected);
  });
});

describe('what is not personal', () => {
  it.each([
    'Your appointment is on 3 March 2027 at 10:30, or on 04.03.2027.',
    'That makes 1,234,567.89 euros, or 0.1234567 of it, and 12345678 in stock.',
    'Order A-0171234567, parcel #0171234567, run 01890a5d-ac96-774b-bcce-b302099a8057.',
    'One moment, I have one or two questions.',
    'Room 12, floor 3, 14 people, 2024 and 1.5 kg at 20 °C.',
    '1, 2, 3, 4, 5, 6, 7, 8, 9, 10',
    'It was 1700000000123 in milliseconds.',
    'We open at nine and close at five.',
    '{"free":2,"price":19.99,"at":"2027-03-03T10:30:00Z"}',
    'Eins, zwei, los geht es.',
  ])('stays: %j', (text) => {
    for (const language of ['en', 'de', 'fr', 'es', 'it']) expect(redacted(text, language)).toBe(text);
  });

  it('stays, whatever words and small numbers stand together', () => {
    const word = fc.oneof(
      fc.constantFrom('table', 'for', 'at', 'the', 'please', 'and', 'no', 'yes', 'room', 'Uhr', 'rue', 'born'),
      fc.integer({ min: 0, max: 999 }).map(String),
    );
    const sentence = fc.array(fc.tuple(word, fc.constantFrom('table', 'people', 'euros', 'nights')), { maxLength: 12 });
    fc.assert(
      fc.property(sentence, (words) => {
        const text = words.flat().join(' ');
        expect(redacted(text)).toBe(text);
      }),
    );
  });

  it('stays where it is around what is personal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.string({ unit: 'grapheme', maxLength: 40 }), (before, behind) => {
        const plain = (text: string): string => text.replaceAll(/[\p{Nd}\p{L}+(]/gu, '');
        const [first, last] = [plain(before), plain(behind)];
        expect(redacted(`${first} x 4242424242424242 y ${last}`)).toBe(`${first} x [card] y ${last}`);
      }),
    );
  });
});

describe('JSON', () => {
  it('keeps its shape', () => {
    const value = { card: 4242424242424242, list: ['+49 30 901820', 7, null, true], nested: { '202-555-0199': { note: 'at 10' } } };
    expect(redactorOf().redactValue(value)).toEqual({
      card: '[card]',
      list: ['[phone]', 7, null, true],
      nested: { '[phone]': { note: 'at 10' } },
    });
  });

  it('is read where it is a text', () => {
    expect(redactorOf().redactText('{"customer":{"phone":"+4930901820"}, "free": 2}')).toBe('{"customer":{"phone":"[phone]"},"free":2}');
    expect(redactorOf().redactText('{ "free": 2 }')).toBe('{ "free": 2 }');
    expect(redactorOf().redactText('{"broken": "+4930901820"')).toBe('{"broken": "[phone]"');
  });
});

describe('a redactor', () => {
  it('takes out what its agent names, and nothing else', () => {
    const text = 'card 4242424242424242, phone +4930901820, member ACME-77';
    const only = (kinds: readonly RedactionKind[]) => redactorOf('en', { kinds: [...kinds] }).redact(text);
    expect(only(['Phone'])).toBe('card 4242424242424242, phone [phone], member ACME-77');
    const patterns = [{ name: 'member', regex: String.raw`ACME-\d+`, label: 'member number' }];
    expect(redactorOf('en', { patterns }).redact(text)).toBe('card 4242424242424242, phone +4930901820, member [member number]');
  });

  it('takes linear time for every pattern', () => {
    const patterns = [{ name: 'slow', regex: '(a+)+$' }];
    expect(redactorOf('en', { patterns }).redact(`${'a'.repeat(50_000)}!`)).toHaveLength(50_001);
  });

  it('takes out what it is told, in whole words', () => {
    const redactor = redactorOf();
    redactor.remember([{ kind: 'Name', value: 'Jo Ann' }]);
    expect(redactor.redact('JO ANN sees Joanna and jo ann.')).toBe('[name] sees Joanna and [name].');
  });

  it('knows whether a number may go on in the next message', () => {
    const findsNumbers = (spec: RedactorOptions['spec']) => redactorOf('en', spec).findsNumbers;
    expect([findsNumbers({ kinds: ['Card'] }), findsNumbers({ kinds: ['Name'] })]).toEqual([true, false]);
    expect(findsNumbers({ patterns: [{ name: 'a', regex: 'a' }] })).toBe(true);
  });

  it('counts by kind', () => {
    const counted: string[] = [];
    const redactor = new Redactor({
      spec: { kinds: ['Card', 'Phone'] },
      language: 'en',
      thisYear: THIS_YEAR,
      onRedaction: (kind) => counted.push(kind),
    });
    redactor.redact('4242424242424242, +4930901820, +4930901821');
    expect(counted).toEqual(['Card', 'Phone', 'Phone']);
  });
});

it('knows cards by their length and their first digit', () => {
  expect(['4242424242424242', '378282246310005', '6304000000000000', '5555555555554444'].map(isCard)).toEqual([true, true, true, true]);
  expect(['', '0000000000000', '424242424242', '1700000000123'].map(isCard)).toEqual([false, false, false, false]);
});
