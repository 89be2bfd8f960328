import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { termsOf } from './terms.ts';

/** Tells whether all terms of the question are among those of the passage. */
function finds(question: string, passage: string, language?: string): boolean {
  const there = new Set(termsOf(passage, language));
  const wanted = termsOf(question, language);
  return wanted.length > 0 && wanted.every((term) => there.has(term));
}

describe('words', () => {
  it.each([
    ['en', 'returning policies', 'Our Return Policy.'],
    ['en-GB', 'customer', "The customer's rights"],
    ['de', 'strasse haus', 'In der STRASSE stehen Häuser'],
    ['de', 'GROSSE', 'große'],
    ['fr', 'eau été', 'L’eau de l’ÉTÉ'],
    ['it', 'acqua', "dell'acqua"],
    ['tr', 'istanbul', "İSTANBUL'da"],
    ['ru', 'возвраты', 'возврата'],
    ['ar', 'مدرسة', 'المدرسةُ'],
    ['el', 'Αθήνας', 'ΑΘΗΝΑΣ'],
    ['fa', 'می‌خواهم', 'میخواهم'],
    ['vi', 'tiếng việt', 'Tiếng Việt'],
    ['nl', 'bedrijf prijs', 'prijzen voor bedrijven'],
    ['pl', 'lekcja w ratach', 'W cenie lekcji: trzy raty'],
    ['pl', 'pokoje ze śniadaniem', 'Ze śniadania w pokoju'],
  ])('%s: %s is found in %s', (language, question, passage) => {
    expect(finds(question, passage, language)).toBe(true);
  });

  it.each([
    ['anstecken', 'sich anzustecken'],
    ['Angesteckt?', 'wer andere ansteckt oder anstecken will'],
    ['abholen', 'wird abgeholt'],
    ['Ausbildung', 'Auszubildende'],
    ['einleiten', 'das Eingeleitete'],
    ['hinzufügen', 'etwas hinzuzufügen und hinzugefügt'],
    ['zurückzugeben', 'zurückgeben'],
    ['Angeboten', 'ein Angebot'],
    ['Angestellten', 'eine Angestellte'],
    ['Umgebungen', 'Umgebung'],
  ])('takes %s for a form of a word in: %s', (question, passage) => {
    expect(finds(question, passage, 'de')).toBe(true);
  });

  it('keeps apart what only its tones keep apart in Vietnamese', () => {
    expect(finds('mà', 'má', 'vi')).toBe(false);
  });

  it('takes precomposed and decomposed letters for the same', () => {
    expect(termsOf('cafe\u0301 re\u0301sume\u0301', 'en')).toEqual(termsOf('café résumé', 'en'));
  });

  it('stems words of a script that is not that of the language by that script', () => {
    expect(finds('refund', 'Refunds take ten days', 'bn')).toBe(true);
    expect(finds('ঠিকানা', 'ঠিকানাগুলোর তালিকা', 'en')).toBe(true);
    expect(finds('возврат', 'возврата', 'en')).toBe(true);
  });

  it('leaves words as they are in a language that it knows no stemmer for', () => {
    expect(termsOf('grąžinimai', 'lt')).toEqual(['grazinimai']);
    expect(termsOf('повернення', 'uk')).not.toEqual(termsOf('повернен', 'uk'));
  });

  it.each(['', 'xx', 'constructor', 'en-Latn-US-u-co-phonebk', '-', '__proto__'])('takes the language tag %j', (language) => {
    expect(termsOf('some words', language)).toHaveLength(2);
  });
});

describe('numbers, codes and addresses', () => {
  it.each([
    ['AB-1234', 'Part AB-1234 is out of stock'],
    ['ab1234', 'Part AB-1234 is out of stock'],
    ['AB 1234', 'Part AB-1234 is out of stock'],
    ['1234', 'Part AB-1234 is out of stock'],
    ['AB-1234', 'Part AB1234 is out of stock'],
    ['order_id', 'set ORDER_ID first'],
    ['order id', 'set order_id first'],
    ['jane.doe@example.com', 'Write to Jane.Doe@Example.com.'],
    ['jane', 'Write to Jane.Doe@Example.com.'],
    ['example', 'Write to Jane.Doe@Example.com.'],
    ['email', 'by e-mail'],
    ['e-mail', 'by email or e-mail'],
    ['1234.50', 'It costs 1,234.50 in all'],
    ['01712-345678', 'call 01712345678 or 01712-345678'],
    ['10.2.0.15', 'the address is 10.2.0.15.'],
    ['USA', 'made in the U.S.A.'],
    ['१२३४', 'number 1234'],
    ['১২৩৪', 'number 1234'],
    ['１２３４', 'number ١٢٣٤'],
  ])('%s is found in: %s', (question, passage) => {
    expect(finds(question, passage, 'en')).toBe(true);
  });
});

describe('text without spaces', () => {
  it.each([
    ['zh', '退货', '我想退货并获得退款'],
    ['zh', '退款', '我想退货并获得退款'],
    ['ja', '返品', '返品と返金をお願いします'],
    ['ja', '東京', '東京都'],
    ['th', 'คืนเงิน', 'ขอคืนเงินภายในเจ็ดวัน'],
  ])('%s: %s is found in %s', (language, question, passage) => {
    const there = new Set(termsOf(passage, language));
    expect(termsOf(question, language).some((term) => there.has(term))).toBe(true);
  });

  it('finds a Korean noun without its particle', () => {
    const there = new Set(termsOf('환불을 받고 싶습니다', 'ko'));
    expect(termsOf('환불', 'ko').every((term) => there.has(term))).toBe(true);
  });

  it('forms pairs of whole characters outside the basic plane', () => {
    expect(termsOf('𠮷野家', 'ja')).toContain('𠮷野');
  });

  it('takes a million characters without a break', () => {
    expect(termsOf('a'.repeat(1_000_000), 'en').length).toBeGreaterThanOrEqual(500);
    expect(termsOf('我'.repeat(200_000), 'zh').length).toBeGreaterThan(100_000);
    expect(termsOf('e\u0301'.repeat(200_000) + '\u0301'.repeat(200_000), 'en').length).toBeGreaterThan(10);
  });
});

describe('Bangla', () => {
  it.each([
    ['পণ্য', 'পণ্যের'],
    ['পণ্যটি', 'পণ্যগুলো'],
    ['গ্রাহক', 'গ্রাহকদের'],
    ['বাতিল', 'বাতিলের'],
    ['রিসেট', 'রিসেটও'],
    ['দিয়েছি', 'দেওয়া'],
    ['লবন', 'লবণ'],
    ['মুরগী', 'মুরগি'],
    ['রাণীক্ষেত', 'রানীক্ষেতের'],
    ['১৫ই', '15ই'],
  ])('%s is found by %s', (left, right) => {
    expect(termsOf(left, 'bn')).toEqual(termsOf(right, 'bn'));
  });

  it.each([
    ['আম', 'আমি'],
    ['কর', 'করা'],
    ['দিন', 'দেওয়া'],
  ])('keeps %s and %s apart', (left, right) => {
    expect(termsOf(left, 'bn')).not.toEqual(termsOf(right, 'bn'));
  });

  it('takes every way to write a letter for the same', () => {
    expect(termsOf('ব\u09bcড\u09bcয\u09bc', 'bn')).toEqual(termsOf('ব\u09bc\u09dc\u09df', 'bn'));
    expect(termsOf('ক্ষ\u200cমতা \u200dক্ষমতা', 'bn')).toEqual(termsOf('ক্ষমতা ক্ষমতা', 'bn'));
    expect(termsOf('উত্\u200cপাদন', 'bn')).toEqual(termsOf('উৎপাদন', 'bn'));
  });
});

describe('any text', () => {
  const anyText = fc.string({ unit: 'binary', maxLength: 300 });

  it('gives the same terms each time, none of them empty or with white space', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom('en', 'bn', 'zh', 'ar', undefined), (text, language) => {
        const terms = termsOf(text, language);
        expect(termsOf(text, language)).toEqual(terms);
        expect(terms.filter((term) => term === '' || /\s/.test(term))).toEqual([]);
      }),
    );
  });

  it('has raised digits apart from the number before them', () => {
    expect(termsOf('320¹ euros for 20 m² and 10³ litres', 'en')).toEqual(expect.arrayContaining(['320', '10', 'm2']));
    expect(termsOf('320¹', 'en')).not.toContain('3201');
  });

  it('gives the same terms in every normalisation form', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(termsOf(text.normalize('NFD'), 'en')).toEqual(termsOf(text.normalize('NFC'), 'en'));
      }),
    );
  });
});
