import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, it } from 'vitest';

import { testFolder } from '../../test/support/folders.ts';
import { requireTexts } from './licences.ts';

/** Makes a layer with these files. */
function layer(files: Readonly<Record<string, string>>): string {
  const folder = testFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}
const GPL = "can be found in /usr/share/common-licenses/GPL-3, and of the LGPL in `/usr/share/common-licenses/LGPL-2.1'.\n";

it('lets an image be whose layers have all texts between them', async () => {
  const layers = [
    layer({ 'usr/share/doc/libc6/copyright': GPL, 'usr/share/common-licenses/GPL-3': '', 'usr/share/common-licenses/LGPL-2.1': '' }),
    layer({ 'opt/parley/NOTICE': '' }),
  ];
  await expect(requireTexts({ layers, texts: ['opt/parley/NOTICE'], debian: ['libc6'] })).resolves.toBeUndefined();
});

it('names the texts that are missing, also those that a copyright refers to', async () => {
  const layers = [layer({ 'usr/share/doc/libc6/copyright': GPL, 'usr/share/common-licenses/GPL-3': '' })];
  await expect(requireTexts({ layers, texts: ['opt/parley/NOTICE'], debian: ['libc6', 'tini'] })).rejects.toThrow(
    /^the image lacks texts of licences: opt\/parley\/NOTICE, usr\/share\/common-licenses\/LGPL-2\.1, usr\/share\/doc\/tini\/copyright$/,
  );
});
