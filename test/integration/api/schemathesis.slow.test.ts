/**
 * Runs Schemathesis against a real facade: requests made from the OpenAPI document, sound and broken, in every phase it has.
 * Here an operation gets a few requests, the same in every run. For more and others, as a search and no gate:
 * `PARLEY_SCHEMATHESIS_EXAMPLES=200 npm test -- test/integration/api/schemathesis.slow.test.ts`.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from 'vitest';

import { registeredCall as webCallExample } from '../../../api/calls/examples.ts';
import { suiteFolder } from '../../support/folders.ts';
import { testPython } from '../../support/programs.ts';
import { run } from '../../support/run.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { realMediaServer, serveAgent } from './calls-support.ts';
import { organization, startFacade } from './facade.ts';
import { knowledgeMeans } from './knowledge-means.ts';

const version = '4.32.5';
const examples = process.env['PARLEY_SCHEMATHESIS_EXAMPLES'];

/**
 * These leave out the checks that the facade refuses what the document calls wrong and accepts what it calls right. Like pydantic, it
 * converts (`"5"` is a number), and only stored objects show that some bodies are to be refused.
 */
const options = [
  '--checks=all',
  '--exclude-checks=negative_data_rejection,positive_data_acceptance',
  `--max-examples=${examples ?? '10'}`,
  ...(examples === undefined ? ['--generation-deterministic', '--seed=1'] : ['--generation-database=none', '--workers=2']),
  // The facade answers for itself within a shorter time.
  '--request-timeout=60',
  '--continue-on-failure',
  '--suppress-health-check=all',
  '--no-color',
];

/** Steps build on each other, but not on the answer of a dry run: the object that it shows was never made. */
const chains = `[parameters]
"query.dry_run" = false
`;

/** Says how the bodies of bulk uploads are written: Schemathesis has no way of its own. */
const hooks = `import json
import schemathesis

def text_of(value):
    return value if isinstance(value, (bytes, str)) else json.dumps(value)

@schemathesis.serializer("application/x-ndjson")
def lines(ctx, value):
    entries = value if isinstance(value, list) else [value]
    return b"".join(e if isinstance(e, bytes) else text_of(e).encode() + b"\\n" for e in entries)

@schemathesis.serializer("application/zip")
def archive(ctx, value):
    return value if isinstance(value, bytes) else text_of(value).encode()
`;

/**
 * Tries each field with each of its bounds. Wrong values are left to the fuzzing here, and to the random requests that are compared with
 * pydantic's answers: each way in which each field can be wrong makes six of its ten thousand requests.
 */
const validFields = `[phases.coverage.generation]
mode = "positive"
`;

const phases = [
  { name: 'examples,coverage,fuzzing', config: examples === undefined ? validFields : '' },
  { name: 'stateful', config: chains },
];

const knowledge = suiteFixture(knowledgeMeans);
const facade = suiteFixture(async () => startFacade({ knowledge: knowledge.knowledge, calls: { mediaServer: await realMediaServer() } }));
const folder = suiteFolder();
let interpreter: string;
beforeAll(async () => void (interpreter = await testPython({ name: 'schemathesis', requirements: [`schemathesis==${version}`] })));

describe('schemathesis', () => {
  it.each(phases)(
    'finds no server error, no undocumented status or content type and no answer against its schema ($name)',
    { timeout: examples === undefined ? 900_000 : 3_600_000 },
    async ({ name, config }) => {
      const org = await organization(facade);
      // This is the agent of the examples.
      await serveAgent(facade.store, org.name, webCallExample.ai_agent_id);
      await writeFile(join(folder, 'schemathesis.toml'), config);
      await writeFile(join(folder, 'body_hooks.py'), hooks);
      const { code, stdout, stderr } = await run(
        interpreter,
        [
          '-m',
          'schemathesis.cli',
          'run',
          `${facade.url}/openapi.json`,
          ...options,
          `--phases=${name}`,
          '--header',
          `Authorization: Bearer ${org.key}`,
        ],
        { cwd: folder, env: { PYTHONUNBUFFERED: '1', PYTHONPATH: folder, SCHEMATHESIS_HOOKS: 'body_hooks' }, timeoutMs: 3_500_000 },
      );
      expect(code, `${stdout}\n${stderr}\n${errorsIn(facade.log())}`).toBe(0);
      // The run can't have revoked its own key: then the rest of its requests would have met a 401.
      expect((await org.call('GET', '/v2/ai-agents')).status).toBe(200);
    },
  );
});

function errorsIn(log: string): string {
  return log
    .split('\n')
    .filter((line) => line.includes('"level":"error"'))
    .slice(0, 20)
    .join('\n');
}
