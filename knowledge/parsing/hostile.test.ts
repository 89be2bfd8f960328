import { afterAll, describe, expect, it } from 'vitest';

import { QUICK_HOSTILE_FILES } from '../../test/support/documents/hostile-files.ts';
import { failureCode } from '../../test/support/documents/read.ts';
import { ParserPool } from './parser-pool.ts';

const pool = new ParserPool({ size: 2 });
afterAll(() => pool.close());

describe('files that must not be read', () => {
  it.concurrent.each(QUICK_HOSTILE_FILES)('%s in .%s', async (_, extension, content, code) => {
    expect(await failureCode(pool, { content, extension })).toBe(code);
  });
});
