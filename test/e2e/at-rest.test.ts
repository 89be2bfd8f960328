/** An installation writes nothing without a change, however often it reconciles. The API server's own metrics count the writes. */
import { randomUUID } from 'node:crypto';

import { expect, inject, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { stackClient } from '../support/stack.ts';

const client = stackClient(inject('stack'));

/** WebhookSubscriptions are left out: to their status the dispatcher copies what it sees of endpoints that are tried again and again. */
const kinds = ['agents', 'tools', 'phonenumbers', 'knowledgebases', 'agenttests'] as const;
const REQUESTED = 'parley.dev/reconcile-requested-at';

/** Counts the writes to these kinds (spec, status, finalizers) that the API server has answered so far. */
async function writes(): Promise<number> {
  const { stdout } = await client.kubectl(['get', '--raw', '/metrics']);
  return stdout
    .split('\n')
    .filter(
      (line) =>
        line.startsWith('apiserver_request_total{') &&
        line.includes('group="parley.dev"') &&
        kinds.some((kind) => line.includes(`resource="${kind}"`)) &&
        /verb="(APPLY|PATCH|PUT|POST|DELETE)"/.test(line),
    )
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

interface Objects {
  readonly items: readonly { readonly status?: { readonly lastHandledReconcileAt?: string } }[];
}

/** Asks for a reconcile of every object, and waits until each says that it was made. @returns how many there are */
async function reconcileAll(requested: string): Promise<number> {
  await client.kubectl(['annotate', '--overwrite', '--all', '--all-namespaces', kinds.join(','), `${REQUESTED}=${requested}`]);
  return eventually(async () => {
    const { items } = await client.getJson<Objects>(['--all-namespaces', kinds.join(',')]);
    for (const { status } of items) expect(status?.lastHandledReconcileAt).toBe(requested);
    return items.length;
  });
}

it('writes what it is asked for and nothing else, also when its operator begins anew', async () => {
  // The work that the suites before have left is done first.
  await eventually(async () => {
    const before = await writes();
    // A new operator reconciles every object, whatever has changed.
    await client.kill('operator');
    const objects = await reconcileAll(randomUUID());
    expect(objects).toBeGreaterThan(0);
    // The writes are the request itself, and the status that answers it.
    expect((await writes()) - before).toBe(2 * objects);
  });
});
