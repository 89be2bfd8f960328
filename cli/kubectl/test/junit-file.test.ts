import { expect, it } from 'vitest';

import { writeJunit } from './junit-file.ts';

it('says which report cannot be written, and what to do', async () => {
  await expect(writeJunit('/nowhere/report.xml', [], 0, 2)).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringMatching(/^the report \/nowhere\/report\.xml can't be written: ENOENT/) as string,
    cure: 'name another file with --junit',
    exitCode: 2,
  });
});
