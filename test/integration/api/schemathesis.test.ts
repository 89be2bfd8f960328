/**
 * Schemathesis against a real facade: requests made from the OpenAPI document, sound and broken, in every phase it has.
 * Its requests are random, so it is a search and no gate: `PARLEY_SCHEMATHESIS_EXAMPLES=200 npm test -- test/integration/api/schemathesis.test.ts`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { findPython, pythonWith, withoutPython } from '../../support/python.ts';
import { run } from '../../support/run.ts';
import { organization, startFacade, type Facade } from './facade.ts';

const version = '4.32.5';
const examples = process.env['PARLEY_SCHEMATHESIS_EXAMPLES'];

/**
 * Left out: whether what the document calls wrong is refused and what it calls right accepted. Like pydantic, the facade
 * converts (`"5"` is a number), and a body may be refused for what only shows against stored objects.
 */
const options = [
  '--phases=examples,coverage,fuzzing,stateful',
  '--checks=all',
  '--exclude-checks=negative_data_rejection,positive_data_acceptance',
  `--max-examples=${examples}`,
  '--workers=2',
  '--request-timeout=30',
  '--continue-on-failure',
  '--generation-database=none',
  '--suppress-health-check=all',
  '--no-color',
];

const python = await findPython();
let facade: Facade;
let folder: string;
beforeAll(async () => {
  facade = await startFacade();
  folder = await mkdtemp(join(tmpdir(), 'parley-schemathesis-'));
});
afterAll(async () => {
  await facade.close();
  await rm(folder, { recursive: true, force: true });
});

describe.skipIf(python === undefined || examples === undefined)(`schemathesis (on demand; ${withoutPython})`, () => {
  it('finds no server error, no undocumented status or content type and no answer against its schema', { timeout: 3_600_000 }, async () => {
    const interpreter = await pythonWith(python ?? '', { name: 'schemathesis', version, requirements: [`schemathesis==${version}`] });
    const org = await organization(facade);
    const { code, stdout, stderr } = await run(
      interpreter,
      ['-m', 'schemathesis.cli', 'run', `${facade.url}/openapi.json`, ...options, '--header', `Authorization: Bearer ${org.key}`],
      { cwd: folder, env: { PYTHONUNBUFFERED: '1' }, timeoutMs: 3_500_000 },
    );
    expect(code, `${stdout}\n${stderr}\n${errorsIn(facade.log())}`).toBe(0);
    // It can't have revoked the key that it came with: then the rest of its requests would have met a 401.
    expect((await org.call('GET', '/v2/ai-agents')).status).toBe(200);
  });
});

function errorsIn(log: string): string {
  return log
    .split('\n')
    .filter((line) => line.includes('"level":"error"'))
    .slice(0, 20)
    .join('\n');
}
