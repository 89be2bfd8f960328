/** One local stack from start to stop, in the order that its user is told about. */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

import { maskUrl } from '../../platform/masking.ts';
import { migrate } from '../../store/index.ts';
import { UserError } from '../failure.ts';
import { ensureApiKey } from './api-key.ts';
import { duration } from './binaries/progress.ts';
import type { Console } from './console.ts';
import { externalDatabase } from './database-url.ts';
import { findExampleDocuments, ingestExamples } from './example-documents.ts';
import { removeEnvFile, type StackEnv, writeEnvFile } from './env-file.ts';
import { type Kubectl, kubectlWith } from './kubectl.ts';
import { makeFirstCall } from './first-call.ts';
import { createLayout, type Layout } from './layout.ts';
import { endLeftovers } from './leftovers.ts';
import { applyExamples, findExamples, installDefinitions, resourceStates } from './manifests.ts';
import { PartReporter } from './part-reporter.ts';
import { httpCheck } from './parts/http-check.ts';
import { removePostgresData } from './parts/postgres-home.ts';
import { linkPrograms, prepareBinaries } from './prepare-binaries.ts';
import { repositoryRoot } from './repository.ts';
import { choosePorts, type Ports, readSettings, type Settings, writeSettings } from './settings.ts';
import { binariesOf, describeStack, type Stack } from './stack.ts';
import { StateFile } from './state.ts';
import { PartFailure, Supervisor } from './supervisor.ts';

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

/** The one among the examples that answers. */
const exampleAgent = 'receptionist';
/** How long the examples may take at their first start, in milliseconds. */
const examplesReadyWithinMs = 180_000;
/** How long the first delivery is waited for, in milliseconds. */
const firstDeliveryWithinMs = 20_000;
/** Later they are the person's, and may well be broken on purpose. */
const resourcesReadyWithinMs = 10_000;

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
  const stack = describeStack({
    layout,
    ports,
    org,
    binary,
    redisBinary: binaries.get('redis-server'),
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
    await aborted(stop);
  } catch (error) {
    if (!stop.aborted) failure = error;
  }
  removeEnvFile(layout.envFile);
  reporter.stopping();
  await supervisor.stop(options.hurry);
  console.close();
  if (failure !== undefined) throw explain(failure);
}

interface BringUp extends DevOptions {
  readonly settings: Settings;
  readonly org: string;
  readonly ports: Ports;
  readonly stack: Stack;
  readonly supervisor: Supervisor;
  readonly kubectl: Kubectl;
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
  const receiver = `http://127.0.0.1:${ports.receiver}`;
  await firstDelivery(options, receiver);
  await firstCall(options, { PARLEY_URL: url, PARLEY_API_KEY: apiKey, PARLEY_SPEECH_URL: stack.speechUrl });
  return {
    PARLEY_URL: url,
    PARLEY_ORG: org,
    PARLEY_API_KEY: apiKey,
    KUBECONFIG: layout.kubeconfig,
    DATABASE_URL: stack.databaseUrl,
    STORAGE_URL: stack.storageUrl,
    TEMPORAL_ADDRESS: `127.0.0.1:${ports.temporal}`,
    TEMPORAL_UI: `http://127.0.0.1:${ports['temporal-ui']}`,
    PARLEY_RECEIVER: receiver,
    LIVEKIT_URL: stack.mediaServerUrl,
    PARLEY_SPEECH_URL: stack.speechUrl,
    PARLEY_CALL_URL: `${url}/call#key=${pageKey}`,
    PARLEY_BIN: layout.bin,
  };
}

/** Through the command itself, so that a local organisation is made as any other. */
async function createOrganization(options: BringUp): Promise<void> {
  const [file, ...args] = options.parley;
  try {
    await promisify(execFile)(file, [...args, 'org', 'create', options.org], {
      env: { ...options.env, KUBECONFIG: options.layout.kubeconfig, DATABASE_URL: options.stack.databaseUrl },
      signal: options.stop,
      timeout: 60_000,
    });
  } catch (error) {
    options.stop.throwIfAborted();
    const { stderr } = error as { stderr?: string };
    throw new UserError(`the organisation ${options.org} could not be made: ${stderr?.trim() || (error as Error).message}`, {
      cause: error,
    });
  }
}

async function ensureExamples(options: BringUp): Promise<void> {
  const { settings, org, kubectl, layout, console, stop } = options;
  const examples = findExamples();
  // Once: what was changed or deleted since is the person's own doing. Other examples or another organisation are new.
  const mark = examples.digest === undefined ? undefined : `${org}:${examples.digest}`;
  if (mark === undefined || settings.examples === mark) return;
  try {
    await applyExamples(kubectl, examples, org, stop);
  } catch (error) {
    stop.throwIfAborted();
    if (settings.examples === undefined) throw error;
    // New examples over old ones that somebody has changed: theirs stand.
    console.line(`! the examples of this version could not be applied over the present ones: ${(error as Error).message}`);
  }
  writeSettings(layout.settings, { ...settings, examples: mark });
}

/** Once, as the example resources: what was deleted since stays deleted. */
async function ensureDocuments(options: BringUp, api: { readonly url: string; readonly apiKey: string }): Promise<void> {
  const { org, console, stop, layout } = options;
  const documents = findExampleDocuments();
  const mark = documents.digest === undefined ? undefined : `${org}:${documents.digest}`;
  const settings = readSettings(layout.settings);
  if (mark === undefined || settings.documents === mark) return;
  try {
    await ingestExamples(documents, { ...api, console, signal: stop });
  } catch (error) {
    stop.throwIfAborted();
    // The example knowledge base may be gone by now: that is no reason not to run.
    console.line(`! the example documents were not ingested: ${(error as Error).message}`);
  }
  writeSettings(layout.settings, { ...settings, documents: mark });
}

/** At the first start documents have been ingested, which the example subscriptions tell the receiver: it is part of what works. */
async function firstDelivery({ console, stop, settings }: BringUp, receiver: string): Promise<void> {
  if (settings.documents !== undefined) return;
  for (const startedAt = performance.now(); performance.now() - startedAt < firstDeliveryWithinMs;) {
    const { body } = await httpCheck({ url: receiver, signal: AbortSignal.any([stop, AbortSignal.timeout(5_000)]) });
    const { verified } = (JSON.parse(body) as { readonly received: { readonly verified: number } }).received;
    if (verified > 0) {
      console.line(`✓ ${verified} verified deliveries of events`);
      return;
    }
    await pause(100, undefined, { signal: stop });
  }
  console.line('! no event has been delivered yet: `parley webhooks deliveries handbook-news` shows why');
}

/** At the first start of the examples their agent is called, once: it is part of what works. What goes wrong with it stops nothing. */
async function firstCall(options: BringUp, env: Readonly<Record<string, string>>): Promise<void> {
  const { layout, org, console, stop, parley } = options;
  const settings = readSettings(layout.settings);
  if (!options.call || settings.calledIn === org || settings.examples === undefined) return;
  await makeFirstCall({
    agent: exampleAgent,
    parley,
    env: { ...options.env, ...env },
    record: join(layout.root, 'first-call.ogg'),
    console,
    stop,
  });
  writeSettings(layout.settings, { ...settings, calledIn: org });
}

/** At the first start everything has to become Ready; later a resource that does not is only told about. */
async function resourcesReady(options: BringUp): Promise<void> {
  const { kubectl, org, console, stop, settings } = options;
  const first = settings.examples === undefined;
  const startedAt = performance.now();
  for (;;) {
    const states = await resourceStates(kubectl, org, stop);
    const waiting = states.filter(({ ready }) => !ready);
    if (waiting.length === 0) {
      console.status('resources', undefined);
      if (states.length > 0) console.line(`✓ ${states.length} resources Ready`);
      return;
    }
    if (performance.now() - startedAt > (first ? examplesReadyWithinMs : resourcesReadyWithinMs)) {
      const lines = waiting.map(({ name, message }) => `    ${name}: ${message}`).join('\n');
      if (first)
        throw new UserError(`the examples are not Ready after ${duration(examplesReadyWithinMs)}:\n${lines}`, {
          cure: `look at ${join(options.layout.logs, 'operator.log')}`,
        });
      console.line(`! not Ready, and left as they are:\n${lines}`);
      return;
    }
    console.status(
      'resources',
      `  waiting for ${waiting.length} of ${states.length} resources: ${waiting.map(({ name }) => name).join(', ')}`,
    );
    await pause(200, undefined, { signal: stop });
  }
}

async function migrateDatabase(databaseUrl: string, console: Console): Promise<void> {
  const { applied } = await migrate({ databaseUrl });
  if (applied.length > 0) console.line(`✓ database: ${applied.length} migration${applied.length === 1 ? '' : 's'} applied`);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    // Also what keeps the process alive while all it does is to wait.
    const awake = setInterval(() => undefined, 1 << 30);
    signal.addEventListener('abort', () => (clearInterval(awake), resolve()), { once: true });
  });
}

function explain(failure: unknown): unknown {
  if (!(failure instanceof PartFailure)) return failure;
  const tail = failure.logTail.map((line) => `    ${line}`).join('\n');
  return new UserError(`${failure.message}${tail === '' ? '' : `; its last lines:\n${tail}`}`, {
    cure: `the whole log is ${failure.logFile}; \`parley doctor\` checks this machine, \`parley dev --reset\` begins with empty data`,
    cause: failure,
  });
}
