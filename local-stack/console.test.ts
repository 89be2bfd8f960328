import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testFolder } from '../test/support/folders.ts';

import { expect, it } from 'vitest';

it('a parent that received `ready` may leave at any time', async () => {
  const folder = testFolder();
  const [script, left] = [join(folder, 'child.ts'), join(folder, 'has-left')];
  writeFileSync(
    script,
    `import { existsSync } from 'node:fs';
    import { sendToParent } from ${JSON.stringify(fileURLToPath(new URL('./console.ts', import.meta.url)))};
    sendToParent({ kind: 'ready' });
    // The other side leaves, and nothing is noticed of it meanwhile.
    const pause = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(${JSON.stringify(left)})) Atomics.wait(pause, 0, 0, 10);
    if (!process.connected) throw new Error('it knows that it is alone: nothing is tested');
    sendToParent({ kind: 'line', text: 'a delivery' });
    // An error of what was sent comes before it.
    process.once('disconnect', () => setImmediate(() => process.exit(7)));`,
  );
  const child = fork(script, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [first] = (await once(child, 'message')) as unknown[];
  expect(first).toEqual({ kind: 'ready' });
  child.disconnect();
  writeFileSync(left, '');
  const [code] = (await once(child, 'exit')) as unknown[];
  expect(code).toBe(7);
});
