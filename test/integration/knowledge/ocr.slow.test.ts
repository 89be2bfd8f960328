/** Reads scanned pages with the Tesseract of this machine: the document has what is on the paper. */
import { dirname, join } from 'node:path';
import { existsSync } from 'node:fs';

import { afterAll, expect, it } from 'vitest';

import { createOcr } from '../../../knowledge/ocr/create-ocr.ts';
import { recognisePages } from '../../../knowledge/ingestion/recognise-pages.ts';
import type { Block } from '../../../knowledge/parsing/index.ts';
import { ocrProfile } from '../../../platform/config/profiles.ts';
import { systemClock } from '../../../platform/clock.ts';
import { makePdf } from '../../support/documents/make-pdf.ts';
import { scanned } from '../../support/documents/scan-pdf.ts';
import { parserPool, texts } from '../../support/documents/read.ts';
import { openEgress } from '../../support/open-egress.ts';
import { testBinary } from '../../support/programs.ts';

const pool = parserPool({ size: 1 });
afterAll(() => pool.close());

/** Finds the language data of a package that was unpacked, not installed. */
async function tesseractEnv(): Promise<Record<string, string>> {
  const program = await testBinary('tesseract');
  const data = join(dirname(program), 'root/usr/share/tesseract-ocr/5/tessdata');
  return { PATH: `${dirname(program)}:/usr/bin:/bin`, ...(existsSync(data) && { TESSDATA_PREFIX: data }) };
}

const LINES = [
  'A deposit of 120 euros is due when the room is booked.',
  'Guests may bring one dog for 8 euros a night.',
  'The pool opens at seven in the morning.',
];

it('reads prose and tables of a scan', async () => {
  const rows = [
    ['Room', 'Summer', 'Winter'],
    ['Single', '60', '50'],
    ['Double', '90', '70'],
    ['Suite', '140', '110'],
  ];
  const page = [
    ...LINES.map((text, at) => ({ text, y: 760 - 40 * at, size: 12 })),
    ...rows.flatMap((cells, row) => cells.map((text, at) => ({ text, x: 72 + 140 * at, y: 560 - 24 * row, size: 12 }))),
  ];
  const parsing = pool.parse({ content: once(await scanned(makePdf([page]))), extension: 'pdf', pictures: 5 });
  const reader = createOcr({
    profile: ocrProfile.parse({ provider: 'tesseract' }),
    egress: openEgress(),
    env: await tesseractEnv(),
    clock: systemClock,
  });
  if (reader === undefined) throw new Error('there is no reader');
  const pages = recognisePages(
    (async function* () {
      yield* parsing.blocks();
      return parsing.document;
    })(),
    { reader, readMarkdown: () => Promise.resolve([]), signal: new AbortController().signal, clock: systemClock },
  );
  const blocks: Block[] = [];
  let next = await pages.next();
  for (; next.done !== true; next = await pages.next()) blocks.push(...next.value);
  expect(texts(blocks)).toEqual([...LINES, ...rows.slice(1).map((cells) => cells.join(' | '))]);
  expect(next.value.warnings).toEqual(['text of pages 1 was recognised from pictures (OCR): check names and numbers that matter']);
});

async function* once(content: Buffer): AsyncGenerator<Uint8Array> {
  yield content;
}
