/** `/docs` in a real browser, where this machine has one. */
import { describe, expect, it } from 'vitest';

import { testFolder } from '../../support/folders.ts';
import { run } from '../../support/run.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startFacade } from './facade.ts';

const facade = suiteFixture(startFacade);
const chromium = (await run('chromium', ['--version'])).code === 0;

describe.skipIf(!chromium)('/docs in a browser (needs chromium on PATH)', () => {
  it('shows every operation, with the network cut off', async () => {
    const folder = testFolder();
    const { stdout, stderr } = await run('chromium', [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      `--user-data-dir=${folder}`,
      // Names lead nowhere: only the facade, by its number, can be reached.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      '--enable-logging=stderr',
      '--virtual-time-budget=20000',
      '--dump-dom',
      `${facade.url}/docs`,
    ]);
    expect(stdout).toContain('Make an agent');
    expect(stdout).toContain('/v1/api-keys/{key_id}/revoke');
    expect(stderr).not.toMatch(/CONSOLE.*(Content Security Policy|Failed to load|Uncaught)/);
  });
});
