/** Shows `/docs` in a real browser. */
import { describe, expect, it } from 'vitest';

import { testFolder } from '../../support/folders.ts';
import { testBinary } from '../../support/programs.ts';
import { run } from '../../support/run.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startFacade } from './facade.ts';

const facade = suiteFixture(startFacade);

describe('/docs in a browser', () => {
  it('shows every operation, with the network cut off', async () => {
    const folder = testFolder();
    const { stdout, stderr } = await run(await testBinary('chromium'), [
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
