import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

import { stringifyYaml } from './yaml.ts';
import { drawable, printable, writePrintable } from './printable.ts';

const hostile = 'a\u001b]0;title\u0007b\u009b2Jc\u202egnp.exe\u2066\r\u007f\u2028';
const anything = fc.string({ unit: 'binary', maxLength: 60 });
// oxlint-disable-next-line no-control-regex -- what must not come out
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

it('escapes what steers a terminal or turns text around, and keeps every language', () => {
  expect(printable(hostile)).toBe('a\\u001b]0;title\\u0007b\\u009b2Jc\\u202egnp.exe\\u2066\\u000d\\u007f\\u2028');
  const texts = 'a\tb\nשָׁלוֹם\u200f, مرحبا, 👩‍🔧 naïve';
  expect(printable(texts)).toBe(texts);
});

it('keeps its own colours on a terminal, and nothing else that looks like one', () => {
  expect(drawable('\r\u001b[2K\u001b[1mNAME\u001b[22m')).toBe('\r\u001b[2K\u001b[1mNAME\u001b[22m');
  expect(drawable('\u001b[2J\u001b[1;31m\u001b]52;c;AAAA\u0007\r')).toBe('\\u001b[2J\\u001b[1;31m\\u001b]52;c;AAAA\\u0007\\u000d');
});

it.each([false, true])('is what a stream writes from then on, JSON and YAML with their value (on a terminal: %s)', (isTTY) => {
  const written: unknown[] = [];
  const stream = { isTTY, write: (chunk: unknown) => written.push(chunk) > 0 } as unknown as NodeJS.WriteStream;
  writePrintable(stream);
  fc.assert(
    fc.property(anything, (value) => {
      for (const [text, read] of [
        [JSON.stringify({ value }), (json: string): unknown => JSON.parse(json)],
        [stringifyYaml({ value }), (yaml: string): unknown => parse(yaml)],
      ] as const) {
        written.length = 0;
        stream.write(text);
        expect(String(written[0])).not.toMatch(control);
        expect(read(String(written[0]))).toEqual({ value });
      }
    }),
  );
  const bytes = new Uint8Array([0x1b]);
  stream.write(bytes);
  expect(written.at(-1)).toBe(bytes);
});
