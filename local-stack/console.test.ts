import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testFolder } from '../test/support/folders.ts';

import { expect, it } from 'vitest';

it('a parent that received `ready` may leave at any time', async () => {
  const folder = testFolder();
  const script = join(folder, 'child.ts');
  writeFileSync(
    script,
    `import { sendToParent } from ${JSON.stringify(fileURLToPath(new URL('./console.ts', import.meta.url)))};
    sendToParent({ kind: 'ready' });
    // Long enough for the other side to leave, and nothing is noticed of it meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    if (!process.connected) throw new Error('it knows that it is alone: nothing is tested');
    sendToParent({ kind: 'line', text: 'a delivery' });
    setTimeout(() => process.exit(7), 100);`,
  );
  const child = fork(script, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [first] = (await once(child, 'message')) as unknown[];
  expect(first).toEqual({ kind: 'ready' });
  child.disconnect();
  const [code] = (await once(child, 'exit')) as unknown[];
  expect(code).toBe(7);
});
