/** Runs every role as a process of its own: /metrics serves what docs/reference/metrics.md says, and nothing else. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { beforeAll, expect, it } from 'vitest';

import { ROLE_NAMES } from '../../../platform/role-names.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { freePort } from '../../support/free-port.ts';
import { mediaServer } from '../../support/media-server.ts';
import { migratedDatabase } from '../../support/postgres.ts';
import { spawnRole } from '../../support/role-process.ts';
import { repository } from '../../support/stack.ts';
import { temporalAddress } from '../../support/temporal.ts';

let env: Readonly<Record<string, string>>;
let page: string;
const folder = suiteFolder();

beforeAll(async () => {
  const [{ url }, { kubeconfig }, temporal, media] = await Promise.all([
    migratedDatabase(),
    controlPlane(),
    temporalAddress(),
    mediaServer(),
  ]);
  page = await readFile(join(repository, 'docs/reference/metrics.md'), 'utf8');
  env = {
    DATABASE_URL: url,
    KUBECONFIG: kubeconfig,
    TEMPORAL_ADDRESS: temporal,
    TEMPORAL_TASK_QUEUE: 'metrics-reference',
    LIVEKIT_URL: media.url,
    LIVEKIT_API_KEY: media.apiKey,
    LIVEKIT_API_SECRET: media.apiSecret,
    // This namespace has no pods: the operator reconciles nothing.
    PARLEY_NAMESPACE: 'metrics-reference',
    PARLEY_LEADER_ELECTION: 'false',
    PARLEY_LOG_LEVEL: 'error',
    PARLEY_VOICE_IDLE_PROCESSES: '1',
    PARLEY_VOICE_SPOOL: join(folder, 'spool'),
    STORAGE_URL: pathToFileURL(folder).href,
    HOME: folder,
  };
});

it.each(ROLE_NAMES)('of the %s', async (role) => {
  const port = await freePort();
  spawnRole(role, { ...env, [`PARLEY_${role.toUpperCase()}_PORT`]: String(port) });
  const documented = tableOf(page, role);
  expect(documented.length).toBeGreaterThan(0);
  // A role registers some of them while it starts.
  await eventually(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(own(await answer.text())).toEqual(documented);
  });
});

/** Returns the names with their types. */
function own(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
    .map(([, name = '', type = '']) => `${name} ${type}`)
    .filter((line) => !/^(nodejs_|process_|parley_build_info )/.test(line))
    .toSorted();
}

function tableOf(text: string, role: string): readonly string[] {
  const section = text.split(new RegExp(`^## ${role}\n`, 'im'))[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, name = '', type = '']) => `${name} ${type}`).toSorted();
}
