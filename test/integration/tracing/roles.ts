/** The roles that one trace goes through, in this process, on the shared servers: for one organisation alone. */
import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';

import { runDispatcher } from '../../../dispatcher/main.ts';
import { runOperator } from '../../../operator/main.ts';
import { loadConfig } from '../../../platform/config.ts';
import { createLogger, type Logger } from '../../../platform/logging.ts';
import { createRegistry } from '../../../platform/metrics.ts';
import { runWorker } from '../../../workflows/main.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { sharedBundle } from '../workflows/support.ts';

export type Line = Readonly<Record<string, unknown>> & { readonly msg: string; readonly level: string };

export interface Roles {
  /** What all of them logged, oldest first. */
  lines(): readonly Line[];
  stop(): Promise<void>;
}

/** Keeps what is logged, at every level. */
export function keptLines(): { readonly loggerOf: (role: string) => Logger; readonly lines: () => readonly Line[] } {
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

export function linesOf(text: string): readonly Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/** Operator, dispatcher and worker; resolves once they work. */
export async function startRoles({ org, databaseUrl }: { readonly org: string; readonly databaseUrl: string }): Promise<Roles> {
  const { kubeconfigs } = await controlPlane();
  const { loggerOf, lines } = keptLines();
  const stopping = new AbortController();
  const env = {
    DATABASE_URL: databaseUrl,
    PARLEY_NAMESPACE: org,
    PARLEY_LEADER_ELECTION: 'false',
    PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    PARLEY_OPERATOR_PORT: '0',
    PARLEY_DISPATCHER_PORT: '0',
    PARLEY_WORKER_PORT: '0',
    STORAGE_URL: 'file:///tmp/parley-no-files',
    TEMPORAL_ADDRESS: await temporalAddress(),
    TEMPORAL_TASK_QUEUE: `traces-${randomBytes(4).toString('hex')}`,
  };
  const running: Promise<void>[] = [];
  const start = async (
    role: 'operator' | 'dispatcher' | 'worker',
    run: (options: {
      readonly config: ReturnType<typeof loadConfig>;
      readonly logger: Logger;
      readonly registry: ReturnType<typeof createRegistry>;
      readonly signal: AbortSignal;
      readonly onListening: (port: number) => void;
    }) => Promise<void>,
  ): Promise<void> => {
    const listening = Promise.withResolvers<number>();
    const ended = run({
      config: loadConfig({ ...env, KUBECONFIG: kubeconfigs[role] }),
      logger: loggerOf(role),
      registry: createRegistry({ role, version: 'test' }),
      signal: stopping.signal,
      onListening: listening.resolve,
    });
    running.push(ended);
    ended.catch(listening.reject);
    const port = await listening.promise;
    await eventually(async () => {
      const { status } = await fetch(`http://127.0.0.1:${port}/readyz`);
      if (status !== 200) throw new Error(`the ${role} is not ready yet`);
    });
  };
  const bundle = await sharedBundle();
  await Promise.all([
    start('operator', runOperator),
    start('dispatcher', runDispatcher),
    start('worker', (options) => runWorker({ ...options, bundle, scheduleId: `traces-${randomBytes(4).toString('hex')}` })),
  ]);
  return {
    lines,
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
