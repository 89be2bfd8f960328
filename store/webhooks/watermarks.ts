import type { Transaction } from '../database.ts';
import { StoreError } from '../error.ts';

const VERSION = /^[0-9]{1,40}$/;

/** Compares numbers of any length: the longer one is larger. */
const larger = (column: string): string => `
  CASE WHEN w.at < clock_timestamp() - interval '10 minutes' OR w.${column} IS NULL THEN coalesce(excluded.${column}, w.${column})
    WHEN (length(excluded.${column}), excluded.${column}) > (length(w.${column}), w.${column}) THEN excluded.${column} ELSE w.${column} END`;

/** @throws StoreError `invalid` for a version that is no number */
export async function raiseWatermark(
  transaction: Transaction,
  org: string,
  { subscriptions, secrets }: { readonly subscriptions?: string | undefined; readonly secrets?: string | undefined },
): Promise<void> {
  for (const given of [subscriptions, secrets]) {
    if (given !== undefined && !VERSION.test(given)) throw new StoreError('invalid', 'a resource version that can be compared is a number');
  }
  await transaction.query(
    `INSERT INTO parley.webhook_watermarks AS w (org, subscriptions_version, secrets_version) VALUES ($1, $2, $3)
     ON CONFLICT (org) DO UPDATE SET subscriptions_version = ${larger('subscriptions_version')}, secrets_version = ${larger('secrets_version')},
       at = clock_timestamp()`,
    [org, subscriptions ?? null, secrets ?? null],
  );
}
