/** Stores which uid the name of a subscription has, and moves its deliveries when the name comes back with another uid. */
import type { Statements } from './statements.ts';

export interface NamedSubscription {
  readonly org: string;
  readonly kind: 'WebhookSubscription' | 'Agent';
  readonly name: string;
  readonly uid: string;
}

/** A subscription whose deliveries stand under a uid that it had before. */
export interface Succession extends NamedSubscription {
  readonly formerUid: string;
}

/** Stores new names. @returns names that are stored with another uid; these stay as they are */
export async function nameSubscriptions(
  statements: Statements,
  subscriptions: readonly NamedSubscription[],
): Promise<readonly Succession[]> {
  if (subscriptions.length === 0) return [];
  const columns = [
    subscriptions.map(({ org }) => org),
    subscriptions.map(({ kind }) => kind),
    subscriptions.map(({ name }) => name),
    subscriptions.map(({ uid }) => uid),
  ];
  await statements.query(
    `INSERT INTO parley.webhook_names (org, kind, name, subscription_uid)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS g (org, kind, name, uid) ORDER BY 1, 2, 3
     ON CONFLICT (org, kind, name) DO NOTHING`,
    columns,
  );
  const { rows } = await statements.query<Succession>(
    `SELECT g.org, g.kind, g.name, g.uid, n.subscription_uid AS "formerUid"
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS g (org, kind, name, uid)
     JOIN parley.webhook_names n ON n.org = g.org AND n.kind = g.kind AND n.name = g.name AND n.subscription_uid <> g.uid`,
    columns,
  );
  return rows;
}

/** Forgets the name of a deleted subscription: the next one of its name starts from scratch. */
export async function forgetName(statements: Statements, uid: string): Promise<void> {
  await statements.query('DELETE FROM parley.webhook_names WHERE subscription_uid = $1', [uid]);
}

/**
 * Moves deliveries, attempts and the endpoint's health to the uid that its name has now. Repeating it changes nothing; the name comes last,
 * so that an interrupted caller starts over.
 *
 * @param generation the resource's generation now: a resource that switched itself off stays so until it is changed
 * @returns whether there may be more: call again
 */
export async function adoptDeliveries(
  statements: Statements,
  { org, kind, name, uid, formerUid, generation }: Succession & { readonly generation: number },
  limit = 5_000,
): Promise<boolean> {
  const deliveries = await statements.query(
    `UPDATE parley.deliveries SET subscription_uid = $2
     WHERE id = ANY (ARRAY(SELECT d.id FROM parley.deliveries d WHERE d.subscription_uid = $1 AND d.org = $3 LIMIT $4))`,
    [formerUid, uid, org, limit],
  );
  const attempts = await statements.query(
    `UPDATE parley.delivery_attempts SET subscription_uid = $2 WHERE subscription_uid = $1
       AND delivery_id = ANY (ARRAY(SELECT a.delivery_id FROM parley.delivery_attempts a WHERE a.subscription_uid = $1 AND a.org = $3 LIMIT $4))`,
    [formerUid, uid, org, limit],
  );
  if (deliveries.rowCount > 0 || attempts.rowCount > 0) return true;
  await statements.query(
    `UPDATE parley.events SET only_subscription = CASE only_subscription WHEN $1 THEN $2 ELSE only_subscription END,
       except_subscription = CASE except_subscription WHEN $1 THEN $2 ELSE except_subscription END
     WHERE id = ANY (ARRAY(SELECT o.event_id FROM parley.outbox o WHERE o.org = $3)) AND (only_subscription = $1 OR except_subscription = $1)`,
    [formerUid, uid, org],
  );
  // A row of the new uid wins.
  await statements.query(
    `UPDATE parley.webhook_endpoints SET subscription_uid = $2, version = version + 1, changed_at = clock_timestamp(), status_written_at = NULL,
       disabled_generation = CASE WHEN disabled_generation IS NULL THEN NULL ELSE $4::bigint END
     WHERE subscription_uid = $1 AND org = $3 AND NOT EXISTS (SELECT FROM parley.webhook_endpoints WHERE subscription_uid = $2)`,
    [formerUid, uid, org, generation],
  );
  await statements.query('DELETE FROM parley.webhook_endpoints WHERE subscription_uid = $1 AND org = $2', [formerUid, org]);
  await statements.query(
    'UPDATE parley.webhook_names SET subscription_uid = $5 WHERE org = $1 AND kind = $2 AND name = $3 AND subscription_uid = $4',
    [org, kind, name, formerUid, uid],
  );
  return false;
}
