/** Runs one local stack from start to stop, in the order that its user sees. */
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { aborted } from '../platform/aborted.ts';
import { maskUrl } from '../platform/masking.ts';
import { UserError } from '../platform/user-error.ts';
import { migrate } from '../store/index.ts';
import { ensureApiKey } from './api-key.ts';
import { removePostgresData } from './components/postgres-installation.ts';
import { networkIsolation } from './components/temporal.ts';
import { externalDatabase, removeEnvFile, type StackEnv, writeEnvFile } from './env-file.ts';
import {
  createOrganization,
  ensureDocuments,
  ensureExamples,
  firstCall,
  firstDelivery,
  resourcesReady,
  type StartContext,
} from './first-start.ts';
import type { Layout } from './layout.ts';
import { installDefinitions, kubectlWith } from './manifests.ts';
import { linkPrograms, prepareBinaries } from './prepare-binaries.ts';
import type { BinaryName } from './programs.ts';
import { ProgressReporter } from './progress-reporter.ts';
import { repositoryRoot } from './repository.ts';
import { choosePorts, type Ports, readSettings, writeSettings } from './settings.ts';
import { binariesOf, describeStack, type Stack } from './stack.ts';
import { ComponentFailedError, Supervisor } from './supervisor.ts';
import { stopOrphans } from './watchdog.ts';

export interface DevOptions extends Pick<StartContext, 'layout' | 'env' | 'console' | 'parley' | 'call' | 'stop'> {
  readonly org: string | undefined;
  readonly ports: Partial<Ports>;
  /** Called when everything is ready. */
  readonly onReady: (env: StackEnv) => void;
  /** Aborts to kill what does not stop by itself. */
  readonly forceStop: AbortSignal;
}

/** Removes everything that a stack has kept. The stack must not run. */
export function resetStack(layout: Layout): void {
  removePostgresData(layout.data);
  const { data, run, secrets, logs, bin, settings, kubeconfig, envFile } = layout;
  for (const path of [data, run, secrets, logs, bin, settings, kubeconfig, envFile]) rmSync(path, { recursive: true, force: true });
}

/**
 * Runs until `stop` aborts, and leaves nothing running behind.
 *
 * @throws UserError when a component does not become ready, with its name, its last log lines and what to do.
 */
export async function runStack(options: DevOptions): Promise<void> {
  const { layout, console, env, parley, stop } = options;
  const own = Object.fromEntries(
    ['parley', 'kubectl-parley', 'kubectl_complete-parley'].map((name) => [name, join(repositoryRoot(), 'bin', name)]),
  );
  // A stack that was killed could not remove its file.
  removeEnvFile(layout.envFile);
  const orphans = await stopOrphans(layout.run);
  if (orphans.length > 0) console.line(`! stopped orphaned processes of an earlier stack: ${orphans.join(', ')}`);

  const known = readSettings(layout.settings);
  const org = options.org ?? known.org ?? 'demo';
  const ports = await choosePorts({ wanted: options.ports, remembered: known.ports ?? {} });
  const settings = { ...known, ports, org };
  const databaseUrl = externalDatabase(env);
  const binaries = await prepareBinaries({ names: binariesOf(databaseUrl), env, console, signal: stop });
  const binary = (name: BinaryName): string => binaries.get(name)!;
  linkPrograms(layout.bin, { kubectl: binary('kubectl'), temporal: binary('temporal'), ...own });
  writeSettings(layout.settings, settings);

  const kubectl = kubectlWith({ binary: binary('kubectl'), kubeconfig: layout.kubeconfig });
  const isolation = await networkIsolation();
  if (isolation === undefined)
    console.line(
      '! this system gives Temporal no network of its own: other accounts of this machine can reach its ports while the stack runs',
    );
  const migrateDatabase = async (url: string): Promise<void> => {
    const { applied } = await migrate({ databaseUrl: url });
    if (applied.length > 0) console.line(`✓ database: ${applied.length} migration${applied.length === 1 ? '' : 's'} applied`);
  };
  const stack = describeStack({
    isolation,
    layout,
    ports,
    org,
    binary,
    redisBinary: binaries.get('redis-server'),
    sipBinary: sipService(env),
    env,
    parley,
    databaseUrl,
    installDefinitions: (signal) => installDefinitions(kubectl, signal),
    migrate: migrateDatabase,
    onDelivery: (line) => console.line(`→ ${line}`),
  });
  if (databaseUrl !== undefined) {
    console.line(`  Postgres: ${maskUrl(databaseUrl)}, from DATABASE_URL`);
    await migrateDatabase(databaseUrl);
  }
  const reporter = new ProgressReporter(console, layout);
  const supervisor = new Supervisor({
    components: stack.components,
    logDir: layout.logs,
    runDir: layout.run,
    ownedFiles: [layout.envFile],
    onEvent: (event) => reporter.report(event),
  });
  let failure: unknown;
  try {
    const stackEnv = await bringUp({ ...options, settings, org, databaseUrl: stack.databaseUrl, kubectl }, stack, supervisor, ports);
    stop.throwIfAborted();
    writeEnvFile(layout.envFile, stackEnv);
    options.onReady(stackEnv);
    // A timer keeps the process alive while it waits for nothing but the signal.
    const awake = setInterval(() => undefined, 1 << 30);
    await aborted(stop);
    clearInterval(awake);
  } catch (error) {
    if (!stop.aborted) failure = error;
  }
  removeEnvFile(layout.envFile);
  reporter.stopping();
  await supervisor.stop(options.forceStop);
  console.close();
  if (failure !== undefined) throw explained(failure);
}

async function bringUp(context: StartContext, stack: Stack, supervisor: Supervisor, ports: Ports): Promise<StackEnv> {
  const { layout, org, console } = context;
  const furnished = async (): Promise<readonly [apiKey: string, pageKey: string]> => {
    const servers = stack.components.filter(({ name }) => name === 'kube-apiserver' || name === 'postgres');
    await Promise.all(servers.map(({ name }) => supervisor.ready(name)));
    await createOrganization(context);
    const keys = { databaseUrl: stack.databaseUrl, org, file: join(layout.secrets, 'api-keys.json') };
    const apiKey = await ensureApiKey({ ...keys, purpose: 'local stack' });
    const pageKey = await ensureApiKey({ ...keys, purpose: 'call page' });
    console.line(`✓ organisation ${org}`);
    await ensureExamples(context);
    return [apiKey, pageKey];
  };
  const started = supervisor.start();
  const [[apiKey, pageKey]] = await Promise.all([furnished(), started]);
  await resourcesReady(context);
  const url = `http://127.0.0.1:${ports.api}`;
  await ensureDocuments(context, { url, apiKey });
  await firstDelivery(context, stack.receiverUrl);
  await firstCall(context, { PARLEY_URL: url, PARLEY_API_KEY: apiKey, PARLEY_SPEECH_URL: stack.speechUrl });
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

/** Returns the person's own program, because none can be downloaded. @throws UserError when the file is missing */
function sipService({ LIVEKIT_SIP_BIN: program }: NodeJS.ProcessEnv): string | undefined {
  if (program === undefined || program === '') return undefined;
  if (!existsSync(program))
    throw new UserError(`LIVEKIT_SIP_BIN is ${program}, and there is no such file`, {
      cure: 'name the program of livekit/sip (docs/calls/phone-numbers.md shows how to build it), or unset it',
    });
  return resolve(program);
}

function explained(failure: unknown): unknown {
  if (!(failure instanceof ComponentFailedError)) return failure;
  const tail = failure.logTail.map((line) => `    ${line}`).join('\n');
  return new UserError(`${failure.message}${tail === '' ? '' : `; its last lines:\n${tail}`}`, {
    cure: `the whole log is ${failure.logFile}; \`parley doctor\` checks this machine, \`parley dev --reset\` begins with empty data`,
    cause: failure,
  });
}
