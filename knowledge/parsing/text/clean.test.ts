import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { BlockSink } from '../child/block-sink.ts';
import { DEFAULT_LIMITS } from '../limits.ts';
import type { ChildMessage } from '../messages.ts';
import { cleanText, oneLine, tidyLines } from './clean.ts';

/** Any 16-bit units, lone surrogates and controls among them. */
const anything = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0, max: 0x20 }), fc.integer({ min: 0x980, max: 0x9ff })), {
    maxLength: 200,
  })
  .map((units) => String.fromCharCode(...units));

describe('text that leaves a parser', () => {
  it('is composed, well-formed, without controls, and clean already', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const clean = cleanText(text);
        expect(clean.isWellFormed()).toBe(true);
        expect(clean).toBe(clean.normalize('NFC'));
        expect(clean).not.toMatch(/(?![\n\t])[\p{Cc}\ufeff\ufffe\uffff]/u);
        expect(cleanText(clean)).toBe(clean);
        expect(oneLine(oneLine(text))).toBe(oneLine(text));
        expect(tidyLines(text)).not.toMatch(/\n\n|^\s|\s$/u);
      }),
    );
  });

  it('keeps the joiners that Bangla needs', () => {
    expect(cleanText('র\u200d্য ক্\u200cষ')).toBe('র\u200d্য ক্\u200cষ');
  });
});

describe('the sink of blocks', () => {
  it('cuts long paragraphs between graphemes, and loses nothing', () => {
    const grapheme = fc.constantFrom('ক্ষু', 'স্ত্রী', 'a', '👨‍👩‍👧', 'é', '字', 'ন্ত্র');
    fc.assert(
      fc.property(fc.array(grapheme, { minLength: 1, maxLength: 30 }), (graphemes) => {
        const text = graphemes
          .join('')
          .repeat(Math.ceil(70_000 / graphemes.join('').length))
          .normalize('NFC');
        const messages: ChildMessage[] = [];
        const sink = new BlockSink({ limits: DEFAULT_LIMITS, send: (message) => messages.push(message) });
        sink.add({ kind: 'paragraph', text, headingPath: [] });
        sink.flush();
        const pieces = messages
          .flatMap((message) => (message.type === 'blocks' ? message.blocks : []))
          .map((block) => ('text' in block ? block.text : ''));
        expect(pieces.length).toBeGreaterThan(1);
        expect(pieces.join('')).toBe(text);
        const segmenter = new Intl.Segmenter();
        const count = (each: string): number => [...segmenter.segment(each)].length;
        expect(pieces.reduce((sum, piece) => sum + count(piece), 0)).toBe(count(text));
      }),
      { numRuns: 5 },
    );
  });
});
