import { describe, expect, it } from 'vitest';

import { Numbering } from './numbering.ts';

const level = (at: number, format: string, text: string, more = ''): string =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/>${more}</w:lvl>`;
const levels = [level(0, 'decimal', '§ %1'), level(1, 'decimal', '%1.%2'), level(2, 'lowerLetter', '(%3)')].join('');
const numbering = (list: string, instances = ''): Numbering =>
  new Numbering(
    Buffer.from(
      `<w:numbering><w:abstractNum w:abstractNumId="7">${list}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>${instances}</w:numbering>`,
    ),
  );
const counted = (lists: Numbering, ...places: readonly (readonly [string, number])[]) => places.map(([numId, at]) => lists.next(numId, at));

describe('numbered paragraphs', () => {
  it('count each level on its own, which begins anew under the next number above it', () => {
    const places = [0, 1, 1, 2, 2, 0, 1, 2].map((at) => ['1', at] as const);
    expect(counted(numbering(levels), ...places)).toEqual(['§ 1', '1.1', '1.2', '(a)', '(b)', '§ 2', '2.1', '(a)']);
  });

  it('go on over several instances of one list, unless an instance says where it begins', () => {
    const instances =
      '<w:num w:numId="2"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>';
    expect(counted(numbering(levels, instances), ['1', 0], ['2', 0], ['3', 0], ['3', 0])).toEqual(['§ 1', '§ 2', '§ 5', '§ 6']);
  });

  it('have the number above them even where no paragraph had it', () => {
    expect(counted(numbering(levels), ['1', 1], ['1', 2])).toEqual(['1.1', '(a)']);
  });

  it('are written as the level says', () => {
    const legal = level(0, 'upperRoman', 'Article %1.') + level(1, 'decimal', '%1.%2', '<w:isLgl/>');
    expect(counted(numbering(legal), ['1', 0], ['1', 0], ['1', 1])).toEqual(['Article I.', 'Article II.', '2.1']);
  });

  it('have no number with bullets and in lists that are not there', () => {
    expect(counted(numbering(level(0, 'bullet', '•')), ['1', 0], ['9', 0], ['1', 3])).toEqual(['', '', '']);
  });

  it('have a short label, however long their text', () => {
    expect(counted(numbering(level(0, 'decimal', 'x'.repeat(100_000))), ['1', 0])).toEqual(['x'.repeat(100)]);
  });

  it('know the level of a style', () => {
    const lists = numbering(level(0, 'decimal', '%1.') + level(1, 'decimal', '%1.%2', '<w:pStyle w:val="Heading2"/>'));
    expect([lists.levelOf('1', 'Heading2'), lists.levelOf('1', 'Other'), lists.levelOf('9', 'Heading2')]).toEqual([1, 0, 0]);
  });
});
