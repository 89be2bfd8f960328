/**
 * Writes events as a process of its own, by the statement of the platform itself, each of the workspace whose turn it is; `parley events
 * emit` does so for one workspace. It prints one line for each event once it is committed: its id, its workspace, when it was made, when
 * its commit was answered.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { openStore, StoreError } from '../../../store/index.ts';
import { composeEvent } from '../../../events/emit.ts';
import { eventIdOf } from '../../../events/envelope.ts';
import type { EmitterOptions } from './emit.ts';

const { databaseUrl, org, workspaces, count, perSecond } = JSON.parse(process.argv[2] ?? '') as EmitterOptions;
const store = openStore({ databaseUrl, poolSize: 8, applicationName: 'bench emitter', retryForMs: 60_000 });

const write = async (index: number): Promise<void> => {
  const workspace = workspaces[index % workspaces.length] ?? '';
  const madeAt = performance.timeOrigin + performance.now();
  const payload = { call_id: `call-${index}`, agent_id: 'agent-1', status: 'ongoing', call_type: 'web_call' };
  const event = composeEvent({ org, name: 'CallHandler.CallStarted', payload, agent: undefined, workspace, now: Math.trunc(madeAt) });
  try {
    await store.webhooks.insert(org, [event]);
  } catch (error) {
    // An earlier try committed it, whose answer was lost.
    if (!(error instanceof StoreError) || error.kind !== 'conflict') throw error;
  }
  const committedAt = performance.timeOrigin + performance.now();
  process.stdout.write(`${eventIdOf(event.id)} ${workspace} ${madeAt.toFixed(3)} ${committedAt.toFixed(3)}\n`);
};

const startedAt = performance.now();
const writing: Promise<void>[] = [];
for (let index = 0; index < count; index += 1) {
  const early = startedAt + (index * 1000) / perSecond - performance.now();
  if (early > 0) await delay(early);
  writing.push(write(index));
}
await Promise.all(writing);
await store.close();
