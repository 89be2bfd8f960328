import { describe, expect, it } from 'vitest';

import { headerNames, headerRows } from './table-header.ts';

const found = (...rows: readonly string[]) => headerRows(rows.map((row) => ({ cells: row.split('|') })));

describe('the rows that name columns', () => {
  it.each([
    ['numbers below', ['Room|Price', 'Single|90', 'Double|120'], { first: 0, length: 1 }],
    ['years', ['Region|2023|2024', 'North|1|2'], { first: 0, length: 1 }],
    ['a title above', ['Prices of 2026|', 'Room|Price|Season', 'Single|90|Winter'], { first: 1, length: 1 }],
    ['text of one kind below', ['Dish|Allergens', 'Soup|celery', 'Cake|egg', 'Fish|fish'], { first: 0, length: 1 }],
    ['sentences below', ['Question|Answer', 'Are there cots?|Yes, 2.', 'May I smoke?|No.'], { first: 0, length: 1 }],
    ['three columns of text', ['Name|Role|City', 'Ada|Engineer|Bonn'], { first: 0, length: 1 }],
    ['two rows', ['Region|2024||2025|', '|Q1|Q2|Q1|Q2', 'North|11|12|13|14'], { first: 0, length: 2 }],
  ])('are found with %s', (_, rows, expected) => {
    expect(found(...rows)).toEqual(expected);
  });

  it.each([
    ['questions with answers', ['Do you take cards?|Yes, all.', 'Is there parking?|Behind the house.', 'Is there wifi?|Yes, free.']],
    ['names with values', ['Phone|0123 4567', 'Check-out|11:00', 'Address|Lake Road 5']],
    ['names with values, text first', ['Name|Hotel Sonne', 'Phone|0123 4567', 'Wifi password|lakeview', 'City|Bonn']],
    ['one row', ['Room|Price']],
    ['a list', ['Bread', 'Butter', 'Milk']],
  ])('are not made of %s', (_, rows) => {
    expect(found(...rows)).toBeUndefined();
  });

  it('make one name for each column, each text once', () => {
    expect(
      headerNames([
        ['Region', '2024', '2024', '2025', ''],
        ['Region', 'Q1', 'Q2', 'Q1', 'Q2'],
      ]),
    ).toEqual(['Region', '2024 Q1', '2024 Q2', '2025 Q1', '2025 Q2']);
  });
});
