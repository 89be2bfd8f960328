/** What a stack is furnished with at its first start, and with what is new at later ones: what was changed or deleted since is the person's. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

import { UserError } from '../platform/user-error.ts';
import { duration } from './binaries/progress.ts';
import type { Console } from './console.ts';
import { findExampleDocuments, ingestExamples } from './example-documents.ts';
import { makeFirstCall } from './first-call.ts';
import type { Kubectl } from './kubectl.ts';
import type { Layout } from './layout.ts';
import { applyExamples, findExamples, resourceStates } from './manifests.ts';
import { httpCheck } from './parts/http-check.ts';
import { readSettings, type Settings, writeSettings } from './settings.ts';
import type { Stack } from './stack.ts';

/** The start of a stack, as these steps see it. */
export interface Start {
  readonly layout: Layout;
  readonly env: NodeJS.ProcessEnv;
  readonly console: Console;
  /** Node and the entry of the `parley` command. */
  readonly parley: readonly [file: string, ...args: string[]];
  readonly org: string;
  /** Whether the example agent is called at its first start. */
  readonly call: boolean;
  /** What is known of earlier starts. */
  readonly settings: Settings;
  readonly stack: Pick<Stack, 'databaseUrl'>;
  readonly kubectl: Kubectl;
  /** Aborts to stop the stack. */
  readonly stop: AbortSignal;
}

/** The one among the examples that answers. */
const exampleAgent = 'receptionist';
/** How long the examples may take at their first start, in milliseconds. */
const examplesReadyWithinMs = 180_000;
/** How long the first delivery is waited for, in milliseconds. */
const firstDeliveryWithinMs = 20_000;
/** Later they are the person's, and may well be broken on purpose. */
const resourcesReadyWithinMs = 10_000;

/** Through the command itself, so that a local organisation is made as any other. */
export async function createOrganization(options: Start): Promise<void> {
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

export async function ensureExamples(options: Start): Promise<void> {
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
export async function ensureDocuments(options: Start, api: { readonly url: string; readonly apiKey: string }): Promise<void> {
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
export async function firstDelivery({ console, stop, settings }: Start, receiver: string): Promise<void> {
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
export async function firstCall(options: Start, env: Readonly<Record<string, string>>): Promise<void> {
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
export async function resourcesReady(options: Start): Promise<void> {
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
