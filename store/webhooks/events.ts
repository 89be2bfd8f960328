/** Writes events in the transaction of the change that they report. */
import type { Transaction } from '../database.ts';
import { StoreError } from '../error.ts';
import type { NewEvent } from './types.ts';

/** Channel that hints at new events in the outbox. */
export const OUTBOX_CHANNEL = 'parley_outbox';

/**
 * Lanes of the outbox: events of one kind are in the same lane. They are so many that two kinds rarely share one, and few enough to look
 * into all of them.
 */
export const LANES = 256;

/** Inserts events in one statement, with their bodies behind one another in one value: a batch costs hardly more than one event. */
const insert = (organizations: string): string => `
  WITH given AS (
    SELECT g.id, g.org, g.name, g.agent, g.workspace, g.only_subscription, g.except_subscription,
      substring($1::bytea FROM g.start + 1 FOR g.length) AS body, g.traceparent, g.call_id
    FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[])
      AS g (id, org, name, agent, workspace, only_subscription, except_subscription, start, length, traceparent, call_id)
    ${organizations}
  ), outbox AS (
    INSERT INTO parley.outbox (event_id, org, lane)
    SELECT id, org, hashtextextended(concat_ws(' ', org, name, agent, workspace, only_subscription), 0) & ${LANES - 1} FROM given
  ), bodies AS (
    INSERT INTO parley.event_bodies (id, org, body, traceparent) SELECT id, org, body, traceparent FROM given
  )
  INSERT INTO parley.events (id, org, name, agent, workspace, only_subscription, except_subscription, call_id)
  SELECT id, org, name, agent, workspace, only_subscription, except_subscription, call_id FROM given`;

const asOrganization = insert('WHERE EXISTS (SELECT FROM parley.organizations o WHERE o.name = g.org)');
const asDispatcher = insert('');

/**
 * Writes events; they are relayed once the transaction is committed, and never if it isn't.
 *
 * @throws StoreError `not_found` for an organisation that has no row
 */
export async function insertEvents(transaction: Transaction, events: readonly NewEvent[]): Promise<void> {
  const written = await write(transaction, events, asOrganization);
  if (written === events.length) return;
  throw new StoreError('not_found', `organisation ${events[0]?.org ?? ''}: there is none of this name, so that nothing can happen in it`);
}

/** Inserts events as `parley_dispatcher`, which sees no organisations: the events are about a row of one, which therefore exists. */
export async function insertEventsAsDispatcher(transaction: Transaction, events: readonly NewEvent[]): Promise<void> {
  await write(transaction, events, asDispatcher);
}

async function write(transaction: Transaction, events: readonly NewEvent[], statement: string): Promise<number> {
  if (events.length === 0) return 0;
  const starts: number[] = [];
  let bytes = 0;
  for (const { body } of events) {
    starts.push(bytes);
    bytes += body.byteLength;
  }
  const { rowCount } = await transaction.query(
    statement,
    [
      Buffer.concat(events.map(({ body }) => body)),
      events.map(({ id }) => id),
      events.map(({ org }) => org),
      events.map(({ name }) => name),
      events.map(({ agent }) => agent ?? null),
      events.map(({ workspace }) => workspace ?? null),
      events.map(({ onlySubscription }) => onlySubscription ?? null),
      events.map(({ exceptSubscription }) => exceptSubscription ?? null),
      starts,
      events.map(({ body }) => body.byteLength),
      events.map(({ traceparent }) => traceparent ?? null),
      events.map(({ callId }) => callId ?? null),
    ],
    { prepared: true },
  );
  transaction.notifyAfterCommit(OUTBOX_CHANNEL);
  return rowCount;
}
