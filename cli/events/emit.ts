/** Writes events for people who try receivers, in the transactions in which real events are written. */
import { setTimeout as delay } from 'node:timers/promises';

import { openStore, StoreError, type NewEvent, type Store } from '../../store/index.ts';
import type { EventName } from '../../events/catalogue.ts';
import { composeEvent } from '../../events/emit.ts';
import { eventIdOf } from '../../events/envelope.ts';
import { databaseUrl, explainStore } from '../database.ts';
import { UserError } from '../../platform/user-error.ts';
import { requireOrganization } from './organization.ts';
import { eventNameOf, payloadOf } from './payload.ts';
import { batchSize, CONNECTIONS, dueAfter, dueAt, pacedBatchSize } from './schedule.ts';

export interface EmitOptions {
  readonly org: string;
  readonly name: string;
  readonly agent?: string | undefined;
  readonly workspace?: string | undefined;
  readonly payload?: string | undefined;
  readonly count: number;
  /** Events a second; absent for as fast as possible. */
  readonly rate?: number | undefined;
}

const LARGEST_BODY = 1_048_576;
/** Longest wait for a database that restarts: what was printed is committed, and the rest follows. */
const WAIT_FOR_DATABASE_MS = 60_000;

/** @throws UserError for an unknown name, a bad payload, an unknown organisation, or a database that stays away */
export async function emitEvents(options: EmitOptions): Promise<void> {
  const { org, count, rate, agent, workspace } = options;
  const name = eventNameOf(options.name);
  const payload = payloadOf(name, options.payload, agent);
  for (const [flag, value] of [
    ['--agent', agent],
    ['--workspace', workspace],
  ] as const) {
    if (value !== undefined && (value.length === 0 || value.length > 253)) throw new UserError(`${flag} has 1 to 253 characters`);
  }
  const make = (): NewEvent => composeEvent({ org, name, payload, agent, workspace, now: Date.now() });
  const bytes = make().body.byteLength;
  if (bytes > LARGEST_BODY)
    throw new UserError(`the event would have ${bytes} bytes, ${LARGEST_BODY} are the most`, { cure: 'shorten --payload' });

  const url = databaseUrl();
  await explainStore(url, async () => {
    const store = openStore({
      databaseUrl: url,
      poolSize: CONNECTIONS,
      applicationName: 'parley events',
      retryForMs: WAIT_FOR_DATABASE_MS,
    });
    try {
      await requireOrganization(store, org);
      const write = (number: number): Promise<void> => writeBatch(store, org, name, Array.from({ length: number }, make));
      await (rate === undefined ? asFastAsItGoes(count, write) : evenly(count, rate, write));
    } finally {
      await store.close();
    }
  });
}

async function asFastAsItGoes(count: number, write: (number: number) => Promise<void>): Promise<void> {
  const size = batchSize(count);
  let left = count;
  const connection = async (): Promise<void> => {
    while (left > 0) {
      const number = Math.min(size, left);
      left -= number;
      await write(number);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
}

/** Each event has its own time from the beginning: one that is late delays none behind it. */
async function evenly(count: number, rate: number, write: (number: number) => Promise<void>): Promise<void> {
  const size = pacedBatchSize(rate);
  const startedAt = performance.now();
  const underway = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for (let begun = 0; begun < count && failures.length === 0;) {
    const due = dueAfter(performance.now() - startedAt, rate, count);
    while (begun < due) {
      const number = Math.min(size, due - begun);
      begun += number;
      const work: Promise<void> = write(number)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => underway.delete(work));
      underway.add(work);
    }
    if (begun < count) await delay(Math.max(0, startedAt + dueAt(begun, rate) - performance.now()));
  }
  await Promise.all(underway);
  if (failures.length > 0) throw failures[0];
}

async function writeBatch(store: Pick<Store, 'webhooks'>, org: string, name: EventName, events: readonly NewEvent[]): Promise<void> {
  try {
    await store.webhooks.insert(org, events);
  } catch (error) {
    // Ids are given once: if they are there, an earlier try was committed, whose answer was lost.
    if (!(error instanceof StoreError) || error.kind !== 'conflict') throw error;
  }
  const committedAt = Date.now();
  const lines = events.map(({ id }) => `${JSON.stringify({ id: eventIdOf(id), name, committed_at: committedAt })}\n`);
  if (!process.stdout.write(lines.join(''))) await new Promise<void>((resolve) => process.stdout.once('drain', () => resolve()));
}
