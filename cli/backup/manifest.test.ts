import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { UserError } from '../../platform/user-error.ts';
import { testFolder } from '../../test/support/folders.ts';
import { readManifest } from './manifest.ts';

it.each(['', '\0\0\0\0', 'null', '[]', '{}', '{"format":1}', '{"format":2}'])('a backup.json of %j is refused in words', async (text) => {
  const folder = testFolder();
  await writeFile(join(folder, 'backup.json'), text);
  await expect(readManifest(folder)).rejects.toBeInstanceOf(UserError);
});
