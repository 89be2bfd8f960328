import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { describe, expect, it } from 'vitest';

import { testFolder } from '../test/support/folders.ts';

import { reportFailure, UserError } from './user-error.ts';

const report = (error: unknown): readonly [code: number, text: string] => {
  const lines: string[] = [];
  const out = { write: (text: string) => lines.push(text) } as unknown as NodeJS.WritableStream;
  const code = reportFailure(error, out);
  return [code, lines.join('')];
};
const failure = async (load: () => unknown): Promise<unknown> => {
  try {
    await load();
  } catch (error) {
    return error;
  }
  return expect.fail('it was found');
};

describe('a failure', () => {
  it('that was expected is its message and the cure', () => {
    expect(report(new UserError('the Secret is missing', { cure: 'create it' }))).toEqual([
      1,
      'parley: the Secret is missing\n  → create it\n',
    ]);
  });

  it.each([
    ['imported', 'module.mjs', "import '@parley/absent/part';"],
    ['required', 'module.cjs', "require('@parley/absent/part');"],
  ])('for want of a package that is %s names it, and what has it', async (_, name, source) => {
    const file = join(testFolder(), name);
    writeFileSync(file, source);
    const [code, text] = report(await failure(() => import(pathToFileURL(file).href)));
    expect(code).toBe(1);
    expect(text).toMatch(/^parley: this needs the package @parley\/absent, .*\n {2}→ run it from the archive/);
  });

  it('that nobody expected has its stack', () => {
    const [code, text] = report(new TypeError('x is not a function'));
    expect([code, text]).toEqual([70, expect.stringMatching(/^parley: TypeError: x is not a function\n {4}at /)]);
  });
});
