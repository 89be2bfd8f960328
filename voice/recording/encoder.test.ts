import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { eventually } from '../../test/support/eventually.ts';
import { prepareEncoder } from './encoder.ts';
import { cutOpus } from './ogg/cut-opus.ts';

let spool: string;
beforeEach(async () => {
  spool = await mkdtemp(join(tmpdir(), 'parley-spool-'));
});
afterEach(() => rm(spool, { recursive: true, force: true }));

it.each([true, false])('has nearly everything in the file when it is killed, even of silence (with a shell: %s)', async (hasShell) => {
  const encoder = await prepareEncoder({ spool, env: {}, hasShell });
  const file = join(spool, "it's a call.ogg");
  const options = ['-f', 's16le', '-ar', '48000', '-ac', '2', '-i', 'pipe:0', '-acodec', 'libopus', '-f', 'ogg', file];
  const child = spawn(encoder, options, { stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin.write(Buffer.alloc(20 * 48_000 * 4));
  let before = -1;
  // Until no more is written.
  await eventually(
    async () => {
      const { size } = await stat(file);
      const same = size === before;
      before = size;
      if (!same || size === 0) throw new Error('it writes still');
    },
    30_000,
    500,
  );
  child.kill('SIGKILL');
  await once(child, 'exit');
  let length = 0;
  for await (const page of cutOpus(createReadStream(file), { fromMs: 0, onLength: (ms) => (length = ms) }))
    expect(page.length).toBeGreaterThan(0);
  expect(length).toBeGreaterThan(18_000);
});

it('is in no process group of others', async () => {
  const encoder = await prepareEncoder({ spool, env: {} });
  const again = await prepareEncoder({ spool, env: { LIVEKIT_FFMPEG_PATH: encoder } });
  const child = spawn(again, ['-f', 's16le', '-i', 'pipe:0', '-f', 'null', '-'], { stdio: ['pipe', 'ignore', 'ignore'] });
  await eventually(() => expect(() => process.kill(-child.pid!, 0)).not.toThrow(), 30_000, 50);
  child.stdin.end();
  await once(child, 'exit');
});

it('refuses a program that can’t be started', async () => {
  await expect(prepareEncoder({ spool, env: { LIVEKIT_FFMPEG_PATH: join(spool, 'nothing') } })).rejects.toThrow(/failed/);
});
