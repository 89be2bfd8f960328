import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readQuestion } from '../lexical/question.ts';
import { queryVector } from '../lexical/vectors.ts';
import { snippetOf } from './snippet.ts';

interface Asked {
  readonly question: string;
  readonly maxLength: number;
  readonly language?: string;
  readonly isSheet?: boolean;
}

function snippet(text: string, { question, maxLength, language = 'en', isSheet = false }: Asked): string {
  const query = queryVector(readQuestion(question, language), { documentCount: 100, frequencyOf: () => 1 });
  return snippetOf({ text, query, language, isSheet, maxLength });
}

const filler = (about: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `Paragraph ${index} is about ${about}.`).join(' ');

describe('a snippet', () => {
  it('is the text where that is short enough', () => {
    expect(snippet(' The gate opens at nine.\n', { question: 'gate', maxLength: 30 })).toBe('The gate opens at nine.');
  });

  it('is whole sentences with what is asked for in their middle', () => {
    const text = `${filler('tyres', 10)} The northern gate has a code. It is given to guests. ${filler('weather', 10)}`;
    const shown = snippet(text, { question: 'What is the code of the northern gate?', maxLength: 160 });
    expect(shown).toBe(
      'Paragraph 8 is about tyres. Paragraph 9 is about tyres. The northern gate has a code. It is given to guests. Paragraph 0 is about weather.',
    );
  });

  it('is the beginning where no word of the question is in the text', () => {
    expect(snippet(filler('tyres', 20), { question: 'weather', maxLength: 60 })).toBe(
      'Paragraph 0 is about tyres. Paragraph 1 is about tyres.',
    );
  });

  it('takes the sentences that say most of the question, and not those that say one word often', () => {
    const text = `The gate is a gate, and a gate it stays. ${filler('tyres', 8)} The code of the gate is at the desk. ${filler('tyres', 8)}`;
    expect(snippet(text, { question: 'code gate', maxLength: 80 })).toContain('The code of the gate is at the desk.');
  });

  it('cuts Bangla at its own full stop', () => {
    const text = 'আমাদের অফিস সকাল নয়টায় খোলে। পণ্য ফেরত দেওয়ার শেষ সময় চৌদ্দ দিন। ঢাকার ভিতরে পৌঁছাতে দুই দিন লাগে।';
    expect(snippet(text, { question: 'পণ্য ফেরত', language: 'bn', maxLength: 50 })).toBe('পণ্য ফেরত দেওয়ার শেষ সময় চৌদ্দ দিন।');
  });

  it('is shorter in Chinese, where a character says more', () => {
    const text = '大门九点开门。'.repeat(20);
    expect(snippet(text, { question: '大门', language: 'zh', maxLength: 90 }).length).toBeLessThanOrEqual(30);
  });

  it('is rows of a table below its header', () => {
    const rows = Array.from({ length: 40 }, (_, index) => `Bolt M${index} | ${index} EUR | in stock`);
    const text = ['Prices', 'Article | Price | Stock', ...rows].join('\n');
    expect(snippet(text, { question: 'price of the bolt M23', maxLength: 90 })).toMatch(
      /^Article \| Price \| Stock\n(Bolt M\d+ \| \d+ EUR \| in stock\n)*Bolt M23 \| 23 EUR \| in stock/,
    );
  });

  it('is rows of a sheet below its name', () => {
    const rows = Array.from({ length: 40 }, (_, index) => `Name: Bolt M${index}. Steel; Price: ${index}`);
    const shown = snippet(['Sheet Prices, rows 2-41', ...rows].join('\n'), { question: 'bolt M23', isSheet: true, maxLength: 90 });
    expect(shown).toMatch(/^Sheet Prices, rows 2-41\n/);
    expect(shown).toContain('Name: Bolt M23. Steel; Price: 23');
  });

  it('cuts a sentence that is longer than that between words, and says so', () => {
    const text = `${Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ')} gate ${'more words '.repeat(60)}`;
    const shown = snippet(text, { question: 'gate', maxLength: 100 });
    expect(shown).toMatch(/^….*\bgate\b.*…$/);
    expect(
      shown
        .slice(1, -1)
        .split(' ')
        .every((word) => text.split(' ').includes(word)),
    ).toBe(true);
  });

  it('is never longer than asked for, is part of the text, and ends inside no grapheme', () => {
    const piece = fc.oneof(
      fc.constantFrom('gate ', 'code. ', '👩‍👩‍👧‍👦', 'é', 'নমস্কার। ', '大门。', 'a | b\n', '\n', '! '),
      fc.string({ unit: 'grapheme', maxLength: 20 }),
    );
    const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join('')),
        fc.integer({ min: 40, max: 200 }),
        (text, maxLength) => {
          const shown = snippet(text, { question: 'gate code', maxLength });
          expect(shown.length).toBeLessThanOrEqual(maxLength + 2);
          const body = shown.replace(/^…/, '').replace(/…$/, '').split('\n').at(-1) ?? '';
          if (text.includes('…')) return;
          expect(text).toContain(body);
          const start = text.indexOf(body);
          // If the text has it more than once, any of these places may be meant.
          if (text.indexOf(body, start + 1) < 0 && body !== '')
            for (const edge of [start, start + body.length])
              if (edge < text.length) expect(graphemes.segment(text).containing(edge)?.index).toBe(edge);
        },
      ),
      { numRuns: 300 },
    );
  });
});
