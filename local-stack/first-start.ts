/** Gives a stack its examples at the first start, and new ones at later starts. What was changed or deleted since belongs to the person. */
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

import { addDocuments } from '../api/client/add-documents.ts';
import { createRestClient } from '../api/client/rest-client.ts';
import { awakeClock } from '../platform/clock.ts';
import { pollUntil } from '../platform/poll-until.ts';
import { UserError } from '../platform/user-error.ts';
import { duration } from './binaries/progress.ts';
import { httpCheck } from './components/probes.ts';
import type { Console } from './console.ts';
import { makeFirstCall } from './first-call.ts';
import type { Layout } from './layout.ts';
import { filenameFlags, findExampleDocuments, findExamples, type Kubectl, resourceReadiness } from './manifests.ts';
import { readSettings, type Settings, writeSettings } from './settings.ts';

/** Describes the start of a stack to these steps. */
export interface StartContext {
  readonly layout: Layout;
  readonly env: NodeJS.ProcessEnv;
  readonly console: Console;
  /** Runs the `parley` command: Node and the entry. */
  readonly parley: readonly [file: string, ...args: string[]];
  readonly org: string;
  /** Whether the example agent is called at its first start. */
  readonly call: boolean;
  /** The record of earlier starts. */
  readonly settings: Settings;
  readonly databaseUrl: string;
  readonly kubectl: Kubectl;
  /** Aborts to stop the stack. */
  readonly stop: AbortSignal;
}

/** This example agent is the one that is called. */
export const EXAMPLE_AGENT = 'receptionist';
/** The example documents go into this knowledge base. */
const EXAMPLE_KNOWLEDGE_BASE = 'workshop-handbook';
const EXAMPLES_READY_WITHIN_MS = 180_000;
const FIRST_DELIVERY_WITHIN_MS = 20_000;
/** Later starts wait no longer: the resources are the person's by then, and may well be broken on purpose. */
const RESOURCES_READY_WITHIN_MS = 10_000;

/** Creates the organisation with the command itself, so that a local one is made like any other. */
export async function createOrganization({ parley, org, env, layout, databaseUrl, stop }: StartContext): Promise<void> {
  const [file, ...args] = parley;
  try {
    await promisify(execFile)(file, [...args, 'org', 'create', org], {
      env: { ...env, KUBECONFIG: layout.kubeconfig, DATABASE_URL: databaseUrl },
      signal: stop,
      timeout: 60_000,
    });
  } catch (error) {
    stop.throwIfAborted();
    const { stderr } = error as { stderr?: string };
    throw new UserError(`failed to create the organisation ${org}: ${stderr?.trim() || (error as Error).message}`, { cause: error });
  }
}

/** Applies the example resources once; other examples or another organisation count as new. */
export async function ensureExamples({ settings, org, kubectl, layout, console, stop }: StartContext): Promise<void> {
  const { files, digest } = findExamples();
  const mark = `${org}:${digest}`;
  if (digest === undefined || settings.examples === mark) return;
  try {
    await kubectl.run(['apply', '--server-side', `--namespace=${org}`, ...filenameFlags(files)], stop);
  } catch (error) {
    stop.throwIfAborted();
    if (settings.examples === undefined) throw error;
    // The new examples meet old ones that a person has changed: the changed ones stay.
    console.line(`! failed to apply the examples of this version over the present ones: ${(error as Error).message}`);
  }
  writeSettings(layout.settings, { ...settings, examples: mark });
}

/** Uploads the example documents once, as a client would: documents that were deleted since stay deleted. */
export async function ensureDocuments(
  { org, console, stop, layout }: StartContext,
  api: { readonly url: string; readonly apiKey: string },
): Promise<void> {
  const { files, digest } = findExampleDocuments();
  const mark = `${org}:${digest}`;
  const settings = readSettings(layout.settings);
  if (digest === undefined || settings.documents === mark) return;
  const states = new Map<string, string>();
  const show = (file: string, state: string): void => {
    states.set(basename(file), state);
    console.status('documents', `  documents: ${[...states].map(([name, each]) => `${name} ${each}`).join(', ')}`);
  };
  try {
    const documents = await addDocuments(createRestClient(api), {
      knowledgeBase: EXAMPLE_KNOWLEDGE_BASE,
      uploads: files.map((file) => ({ file, filename: basename(file), open: () => openAsBlob(file) })),
      skipExisting: true,
      stop,
      onAccepted: (file) => show(file, 'uploaded'),
      onEnd: ({ file, status }) => show(file, status),
    });
    stop.throwIfAborted();
    console.status('documents', undefined);
    const failed = documents.filter(({ status }) => status !== 'completed' && status !== 'skipped');
    for (const { file, message } of failed) console.line(`! failed to ingest ${basename(file)}: ${message}`);
    if (failed.length === 0) console.line(`✓ ${documents.length} documents in the knowledge base ${EXAMPLE_KNOWLEDGE_BASE}`);
  } catch (error) {
    stop.throwIfAborted();
    // The person may have deleted the example knowledge base: that is no reason to stop.
    console.line(`! failed to ingest the example documents: ${(error as Error).message}`);
  }
  writeSettings(layout.settings, { ...settings, documents: mark });
}

/** Waits until the example subscriptions have delivered the events of the example documents to the receiver, at the first start only. */
export async function firstDelivery({ console, stop, settings }: StartContext, receiver: string): Promise<void> {
  if (settings.documents !== undefined) return;
  const countVerified = async (): Promise<number> => {
    const { body } = await httpCheck({ url: receiver, signal: AbortSignal.any([stop, AbortSignal.timeout(5_000)]) });
    return (JSON.parse(body) as { readonly received: { readonly verified: number } }).received.verified;
  };
  const options = { everyMs: 100, withinMs: FIRST_DELIVERY_WITHIN_MS, clock: awakeClock, signal: stop };
  const verified = await pollUntil(countVerified, Boolean, options);
  stop.throwIfAborted();
  console.line(
    verified > 0
      ? `✓ ${verified} verified deliveries of events`
      : '! no event has been delivered yet: `parley webhooks deliveries handbook-news` shows why',
  );
}

/** Calls the example agent once. A call that fails stops nothing. */
export async function firstCall(context: StartContext, env: Readonly<Record<string, string>>): Promise<void> {
  const { layout, org, console, stop, parley } = context;
  const settings = readSettings(layout.settings);
  if (!context.call || settings.calledIn === org || settings.examples === undefined) return;
  const record = join(layout.root, 'first-call.ogg');
  await makeFirstCall({ agent: EXAMPLE_AGENT, parley, env: { ...context.env, ...env }, record, console, stop });
  writeSettings(layout.settings, { ...settings, calledIn: org });
}

/** Waits at the first start until every resource is Ready; later starts only report a resource that isn't. */
export async function resourcesReady({ kubectl, org, console, stop, settings, layout }: StartContext): Promise<void> {
  const first = settings.examples === undefined;
  const look = async () => {
    const resources = await resourceReadiness(kubectl, org, stop);
    const waiting = resources.filter(({ ready }) => !ready);
    const names = waiting.map(({ name }) => name).join(', ');
    console.status('resources', names && `  waiting for ${waiting.length} of ${resources.length} resources: ${names}`);
    return { waiting, total: resources.length };
  };
  const withinMs = first ? EXAMPLES_READY_WITHIN_MS : RESOURCES_READY_WITHIN_MS;
  const { waiting, total } = await pollUntil(look, (found) => found.waiting.length === 0, {
    everyMs: 200,
    withinMs,
    clock: awakeClock,
    signal: stop,
  });
  stop.throwIfAborted();
  if (waiting.length === 0) {
    if (total > 0) console.line(`✓ ${total} resources Ready`);
    return;
  }
  const lines = waiting.map(({ name, message }) => `    ${name}: ${message}`).join('\n');
  if (first)
    throw new UserError(`the examples are not Ready after ${duration(withinMs)}:\n${lines}`, {
      cure: `look at ${join(layout.logs, 'operator.log')}`,
    });
  console.line(`! not Ready, and left as they are:\n${lines}`);
}
