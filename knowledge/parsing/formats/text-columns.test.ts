import { describe, expect, it } from 'vitest';

import { textParts } from './text-columns.ts';

describe('columns of plain text', () => {
  it('keep an empty cell in its column', () => {
    const lines = [
      'Article        Retail   Trade   Stock',
      '-------------------------------------',
      'Hinge type 75   85.50              15',
      'Hinge type 76   90.00    70.00       3',
      'Lock             9.00     7.00        ',
    ];
    expect(textParts(['Our prices:', ...lines].join('\n'))).toEqual([
      { text: 'Our prices:' },
      {
        header: ['Article', 'Retail', 'Trade', 'Stock'],
        rows: [
          ['Hinge type 75', '85.50', '', '15'],
          ['Hinge type 76', '90.00', '70.00', '3'],
          ['Lock', '9.00', '7.00', ''],
        ],
      },
    ]);
  });

  it('have names that reach over them', () => {
    const lines = [
      'Room            Summer    Winter',
      'Single              90        60',
      'Double, sea view   130',
      'Suite                        180',
    ];
    expect(textParts(lines.join('\n'))).toEqual([
      {
        header: ['Room', 'Summer', 'Winter'],
        rows: [
          ['Single', '90', '60'],
          ['Double, sea view', '130', ''],
          ['Suite', '', '180'],
        ],
      },
    ]);
  });

  it('are read between tabs', () => {
    expect(textParts('Room\tPrice\tStock\nSuite\t\t2\nDouble\t180\t')).toEqual([
      {
        header: ['Room', 'Price', 'Stock'],
        rows: [
          ['Suite', '', '2'],
          ['Double', '180', ''],
        ],
      },
    ]);
  });

  it.each([
    ['two lines', 'Room    Price\nSuite   280'],
    ['spaces behind sentences', 'One sentence.  Another one follows it.\nAnd then  a third that is longer.\nFinally a fourth.  It ends.'],
    ['a list of names', '  Ada\n  Bob\n  Eve'],
  ])('are none in %s', (_, text) => {
    expect(textParts(text)).toEqual([{ text }]);
  });
});
