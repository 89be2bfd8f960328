/** One local stack from start to stop, in the order that its user is told about. */
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { aborted } from '../platform/aborted.ts';
import { maskUrl } from '../platform/masking.ts';
import { migrate } from '../store/index.ts';
import { UserError } from '../platform/user-error.ts';
import { ensureApiKey } from './api-key.ts';
import type { Console } from './console.ts';
import { externalDatabase } from './database-url.ts';
import { removeEnvFile, type StackEnv, writeEnvFile } from './env-file.ts';
import {
  createOrganization,
  ensureDocuments,
  ensureExamples,
  firstCall,
  firstDelivery,
  resourcesReady,
  type Start,
} from './first-start.ts';
import { kubectlWith } from './kubectl.ts';
import { createLayout, type Layout } from './layout.ts';
import { endLeftovers } from './leftovers.ts';
import { installDefinitions } from './manifests.ts';
import { PartReporter } from './part-reporter.ts';
import { removePostgresData } from './parts/postgres-home.ts';
import { linkPrograms, prepareBinaries } from './prepare-binaries.ts';
import { repositoryRoot } from './repository.ts';
import { choosePorts, type Ports, readSettings, writeSettings } from './settings.ts';
import { binariesOf, describeStack, type Stack } from './stack.ts';
import { StateFile } from './state.ts';
import { PartFailure, Supervisor } from './supervisor.ts';
import { networkIsolation } from './temporal/isolation.ts';

export interface DevOptions {
  readonly layout: Layout;
  readonly env: NodeJS.ProcessEnv;
  readonly console: Console;
  /** Node and the entry of the `parley` command. */
  readonly parley: readonly [file: string, ...args: string[]];
  readonly org?: string;
  readonly ports: Partial<Ports>;
  /** Whether the example agent is called at its first start. */
  readonly call: boolean;
  /** Told when everything is ready. */
  readonly onReady: (env: StackEnv) => void;
  /** Aborts to stop the stack. */
  readonly stop: AbortSignal;
  /** Aborts to stop it at once. */
  readonly hurry: AbortSignal;
}

/** Removes everything that a stack has kept. It must not run. */
export function resetStack(layout: Layout): void {
  removePostgresData(layout.data);
  for (const path of [
    layout.data,
    layout.run,
    layout.secrets,
    layout.logs,
    layout.bin,
    layout.settings,
    layout.kubeconfig,
    layout.envFile,
  ]) {
    rmSync(path, { recursive: true, force: true });
  }
}

/**
 * Runs until `stop` aborts, and leaves nothing running behind.
 *
 * @throws UserError when a part does not come up, naming it, its last log lines and what to do.
 */
export async function runStack(options: DevOptions): Promise<void> {
  const { layout, console, stop } = options;
  createLayout(layout);
  // A stack that was killed could not remove it.
  removeEnvFile(layout.envFile);
  const leftovers = await endLeftovers(layout.run);
  if (leftovers.length > 0) console.line(`! ended what an earlier stack had left running: ${leftovers.join(', ')}`);

  const settings = readSettings(layout.settings);
  const org = options.org ?? settings.org ?? 'demo';
  const ports = await choosePorts({ wanted: options.ports, remembered: settings.ports ?? {} });
  const databaseUrl = externalDatabase(options.env);
  const binaries = await prepareBinaries({
    names: binariesOf(databaseUrl === undefined ? {} : { databaseUrl }),
    env: options.env,
    console,
    signal: stop,
  });
  const binary = (name: Parameters<typeof binaries.get>[0]): string => binaries.get(name)!;
  const own = Object.fromEntries(
    ['parley', 'kubectl-parley', 'kubectl_complete-parley'].map((name) => [name, join(repositoryRoot(), 'bin', name)]),
  );
  linkPrograms(layout.bin, { kubectl: binary('kubectl'), temporal: binary('temporal'), ...own });
  writeSettings(layout.settings, { ...settings, ports, org });

  const kubectl = kubectlWith({ binary: binary('kubectl'), kubeconfig: layout.kubeconfig });
  const isolation = await networkIsolation();
  if (isolation === undefined)
    console.line(
      '! this system gives Temporal no network of its own: other accounts of this machine can reach its ports while the stack runs',
    );
  const stack = describeStack({
    isolation,
    layout,
    ports,
    org,
    binary,
    redisBinary: binaries.get('redis-server'),
    sipBinary: sipService(options.env),
    env: options.env,
    parley: options.parley,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    installDefinitions: (signal) => installDefinitions(kubectl, signal),
    migrate: (url) => migrateDatabase(url, console),
    onDelivery: (line) => console.line(`→ ${line}`),
  });
  if (databaseUrl !== undefined) {
    console.line(`  Postgres: ${maskUrl(databaseUrl)}, from DATABASE_URL`);
    await migrateDatabase(databaseUrl, console);
  }
  const reporter = new PartReporter(console, new StateFile(layout));
  const supervisor = new Supervisor({
    parts: stack.parts,
    logDir: layout.logs,
    runDir: layout.run,
    ownedFiles: [layout.envFile],
    onEvent: (event) => reporter.tell(event),
  });
  let failure: unknown;
  try {
    const env = await bringUp({ ...options, settings: { ...settings, ports, org }, org, stack, supervisor, kubectl, ports });
    reporter.startedUp();
    stop.throwIfAborted();
    writeEnvFile(layout.envFile, env);
    options.onReady(env);
    // Keeps the process alive while all it does is to wait.
    const awake = setInterval(() => undefined, 1 << 30);
    await aborted(stop);
    clearInterval(awake);
  } catch (error) {
    if (!stop.aborted) failure = error;
  }
  removeEnvFile(layout.envFile);
  reporter.stopping();
  await supervisor.stop(options.hurry);
  console.close();
  if (failure !== undefined) throw explain(failure);
}

interface BringUp extends Start {
  readonly ports: Ports;
  readonly stack: Stack;
  readonly supervisor: Supervisor;
}

async function bringUp(options: BringUp): Promise<StackEnv> {
  const { layout, org, stack, supervisor, console, ports } = options;
  const started = supervisor.start();
  const [[apiKey, pageKey]] = await Promise.all([
    (async () => {
      await Promise.all(
        ['kube-apiserver', ...(stack.parts.some(({ name }) => name === 'postgres') ? ['postgres'] : [])].map((name) =>
          supervisor.ready(name),
        ),
      );
      await createOrganization(options);
      const keys = { databaseUrl: stack.databaseUrl, org, file: join(layout.secrets, 'api-keys.json') };
      const key = await ensureApiKey({ ...keys, purpose: 'local stack' });
      const talkingKey = await ensureApiKey({ ...keys, purpose: 'call page' });
      console.line(`✓ organisation ${org}`);
      await ensureExamples(options);
      return [key, talkingKey] as const;
    })(),
    started,
  ]);
  await resourcesReady(options);
  const url = `http://127.0.0.1:${ports.api}`;
  await ensureDocuments(options, { url, apiKey });
  await firstDelivery(options, stack.receiverUrl);
  await firstCall(options, { PARLEY_URL: url, PARLEY_API_KEY: apiKey, PARLEY_SPEECH_URL: stack.speechUrl });
  return {
    PARLEY_URL: url,
    PARLEY_ORG: org,
    PARLEY_API_KEY: apiKey,
    KUBECONFIG: layout.kubeconfig,
    DATABASE_URL: stack.databaseUrl,
    STORAGE_URL: stack.storageUrl,
    ...stack.temporal,
    PARLEY_RECEIVER: stack.receiverUrl,
    LIVEKIT_URL: stack.mediaServerUrl,
    ...(stack.sipAddress !== undefined && { PARLEY_SIP: stack.sipAddress }),
    PARLEY_SPEECH_URL: stack.speechUrl,
    PARLEY_METRICS_TOKEN: stack.metricsToken,
    PARLEY_CALL_URL: `${url}/call#key=${pageKey}`,
    PARLEY_BIN: layout.bin,
  };
}

/** The person's own: there are no programs of it to download. @throws UserError when it isn't there */
function sipService({ LIVEKIT_SIP_BIN: program }: NodeJS.ProcessEnv): string | undefined {
  if (program === undefined || program === '') return undefined;
  if (!existsSync(program))
    throw new UserError(`LIVEKIT_SIP_BIN is ${program}, and there is no such file`, {
      cure: 'name the program of livekit/sip (docs/calls/phone-numbers.md tells how it is built), or unset it',
    });
  return resolve(program);
}

async function migrateDatabase(databaseUrl: string, console: Console): Promise<void> {
  const { applied } = await migrate({ databaseUrl });
  if (applied.length > 0) console.line(`✓ database: ${applied.length} migration${applied.length === 1 ? '' : 's'} applied`);
}

function explain(failure: unknown): unknown {
  if (!(failure instanceof PartFailure)) return failure;
  const tail = failure.logTail.map((line) => `    ${line}`).join('\n');
  return new UserError(`${failure.message}${tail === '' ? '' : `; its last lines:\n${tail}`}`, {
    cure: `the whole log is ${failure.logFile}; \`parley doctor\` checks this machine, \`parley dev --reset\` begins with empty data`,
    cause: failure,
  });
}
