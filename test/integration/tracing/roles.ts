/** Starts the roles that one trace goes through, in this process, on the shared servers: for one organisation alone. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

import type { ApiDependencies } from '../../../api/dependencies.ts';
import { runDispatcher } from '../../../webhooks/dispatcher/main.ts';
import { openKnowledge } from '../../../knowledge/open-knowledge.ts';
import { runOperator } from '../../../operator/main.ts';
import { loadConfig } from '../../../platform/config/config.ts';
import { createLogger, type Logger } from '../../../platform/logging.ts';
import { createRegistry } from '../../../platform/metrics.ts';
import type { RoleOptions } from '../../../platform/role.ts';
import type { Store } from '../../../store/index.ts';
import { runWorker } from '../../../workflows/main.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { startRole, type RunningRole } from '../../support/running-role.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { sharedBundle, unique } from '../workflows/support.ts';

export type KeptLine = Readonly<Record<string, unknown>> & { readonly msg: string; readonly level: string };

export interface Roles {
  /** Returns what all of them logged, oldest first. */
  lines(): readonly KeptLine[];
  stop(): Promise<void>;
}

/** Keeps all log lines, at every level. */
export function keptLines(): { readonly loggerOf: (role: string) => Logger; readonly lines: () => readonly KeptLine[] } {
  const texts: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      texts.push(chunk.toString());
      done();
    },
  });
  return {
    loggerOf: (role) => createLogger({ role, level: 'debug', destination }),
    lines: () => linesOf(texts.join('')),
  };
}

export function linesOf(text: string): readonly KeptLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as KeptLine);
}

/** Returns the settings that all roles of a test have in common. */
export async function sharedSettings(): Promise<{ readonly env: Readonly<Record<string, string>>; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-traces-'));
  return {
    env: {
      PARLEY_LEADER_ELECTION: 'false',
      PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      PARLEY_OPERATOR_PORT: '0',
      PARLEY_DISPATCHER_PORT: '0',
      PARLEY_WORKER_PORT: '0',
      STORAGE_URL: pathToFileURL(folder).href,
      TEMPORAL_ADDRESS: await temporalAddress(),
      TEMPORAL_TASK_QUEUE: unique('traces'),
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Returns what a facade needs for knowledge bases, so that these roles carry on with them. */
export function knowledgeOf(env: Readonly<Record<string, string>>): (store: Store) => ApiDependencies['knowledge'] {
  const config = loadConfig(env);
  return (store) => {
    const logger = createLogger({ role: 'api', level: 'silent' });
    const { storage, jobs, search } = openKnowledge({ config, store, logger, registry: createRegistry({ role: 'api', version: 'test' }) });
    return { files: storage, jobs, search, profiles: config.PARLEY_EMBEDDING_PROFILES, rerankProfiles: config.PARLEY_RERANK_PROFILES };
  };
}

/** Starts operator, dispatcher and worker; resolves once they work. */
export async function startRoles(settings: Readonly<Record<string, string>>): Promise<Roles> {
  const { kubeconfigs } = await controlPlane();
  const { loggerOf, lines } = keptLines();
  const start = async (role: 'operator' | 'dispatcher' | 'worker', run: (options: RoleOptions) => Promise<void>): Promise<RunningRole> => {
    const running = await startRole(role, run, { ...settings, KUBECONFIG: kubeconfigs[role] }, loggerOf(role));
    await eventually(async () => {
      const { status } = await fetch(`http://127.0.0.1:${running.port}/readyz`);
      if (status !== 200) throw new Error(`the ${role} is not ready yet`);
    });
    return running;
  };
  const bundle = await sharedBundle();
  const running = await Promise.all([
    start('operator', runOperator),
    start('dispatcher', runDispatcher),
    start('worker', (options) => runWorker({ ...options, bundle, scheduleId: unique('traces') })),
  ]);
  return {
    lines,
    async stop() {
      await Promise.all(running.map((role) => role.stop()));
    },
  };
}
