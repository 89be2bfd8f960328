import { chmod, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

import { expect, it } from 'vitest';

import { testFolder } from '../../../test/support/folders.ts';
import { findProgram, openMicrophone, openSpeaker, players, recorders } from './devices.ts';

async function folderWith(programs: Readonly<Record<string, string>>): Promise<string> {
  const folder = testFolder();
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }
  return folder;
}

it('takes the best program that is there', async () => {
  const folder = await folderWith({ arecord: '', rec: '', aplay: '' });
  expect(findProgram(recorders, ['/nowhere', folder].join(delimiter))?.file).toBe('arecord');
  expect(findProgram(players, folder)?.file).toBe('aplay');
  expect(findProgram(recorders, '/nowhere')).toBeUndefined();
  expect(findProgram(recorders, undefined)).toBeUndefined();
});

it('hands over whole samples, however they arrive', async () => {
  const folder = await folderWith({ mic: "printf '\\001'; sleep 0.2; printf '\\000\\002\\000'; sleep 30" });
  const heard = await new Promise<number[]>((resolve, reject) => {
    const all: number[] = [];
    const device = openMicrophone(
      { file: join(folder, 'mic'), args: [] },
      {
        onFailed: (why) => reject(new Error(why)),
        onSamples: (samples) => {
          all.push(...samples);
          if (all.length < 2) return;
          device.stop();
          resolve(all);
        },
      },
    );
  });
  expect(heard).toEqual([1, 2]);
});

it('reports why there is no sound', async () => {
  const folder = await folderWith({ mic: 'echo "arecord: main:830: audio open error: No such file or directory" >&2; exit 1' });
  const why = await new Promise<string>((resolve) => {
    openMicrophone({ file: join(folder, 'mic'), args: [] }, { onFailed: resolve, onSamples: () => undefined });
  });
  expect(why).toMatch(/mic: .*audio open error/);
  const absent = await new Promise<string>((resolve) => {
    const speaker = openSpeaker({ file: join(folder, 'gone'), args: [] }, { onFailed: resolve });
    speaker.play(new Int16Array(10));
  });
  expect(absent).toMatch(/gone: .*ENOENT/);
});
