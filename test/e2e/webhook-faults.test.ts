/** Kills all that a delivery depends on while events are written: each arrives wherever it has to, and hardly any twice. */
import pg from 'pg';
import { expect, inject, it } from 'vitest';

import { aWebhookSubscription } from '../support/builders.ts';
import { eventually } from '../support/eventually.ts';
import { stackClient } from '../support/stack.ts';
import { startWebhookSink } from '../support/webhook-sink.ts';

const stack = inject('stack');
const client = stackClient(stack);

const parts = ['dispatcher', 'worker', 'api', 'temporal', 'postgres'];
const names = ['faults-0', 'faults-1', 'faults-2', 'faults-3'];
const label = 'webhook-faults';
const workspace = 'webhook-faults';
/** A process is killed while these are written: for a second at least. */
const count = 80;
const perSecond = 80;

it('loses no event when every process is killed in turn', async () => {
  const sink = await startWebhookSink({ host: stack.env.PARLEY_TEST_HOST });
  const database = new pg.Client({ connectionString: stack.env.DATABASE_URL });
  try {
    for (const name of names) {
      const subscription = aWebhookSubscription(name, undefined, {
        url: sink.url(`/${name}`),
        scope: { type: 'Workspaces', workspaces: [workspace] },
      });
      const metadata = { ...subscription.metadata, labels: { test: label } };
      await client.kubectl(['apply', '--server-side', '-f', '-'], { input: { ...subscription, metadata } });
    }
    // Until the subscriptions are known, events pass them by.
    await eventually(async () => {
      await client.parley(['events', 'emit', '--name', 'CallHandler.CallStarted', '--workspace', workspace]);
      for (const name of names) expect(sink.ids(`/${name}`).size).toBeGreaterThan(0);
    });
    sink.clear();

    const toEmit = ['events', 'emit', '--name', 'CallHandler.CallStarted', '--workspace', workspace];
    const ids: string[] = [];
    for (const part of parts) {
      const before = sink.ids(`/${names[0]}`).size;
      const emitting = client.parley(toEmit.concat('--count', String(count), '--rate', String(perSecond)));
      // The process is killed in the middle of the work: the first of them have come.
      await eventually(() => expect(sink.ids(`/${names[0]}`).size).toBeGreaterThan(before));
      await client.kill(part);
      const { code, stdout, stderr } = await emitting;
      expect([code, stderr]).toEqual([0, '']);
      ids.push(
        ...stdout
          .trim()
          .split('\n')
          .map((line) => (JSON.parse(line) as { readonly id: string }).id),
      );
    }
    expect(new Set(ids).size).toBe(count * parts.length);

    for (const name of names) {
      await eventually(() => expect(ids.filter((id) => !sink.ids(`/${name}`).has(id))).toEqual([]));
    }
    const all = names.flatMap((name) => sink.received(`/${name}`).map(({ id }) => `${name} ${id}`));
    // At most so many are on their way when the dispatcher dies.
    expect(all.length - new Set(all).size).toBeLessThanOrEqual(256);

    // Other subscriptions of the stack get these events, too, and may be broken on purpose.
    const own = await client.getJson<{ readonly items: readonly { readonly metadata: { readonly uid: string } }[] }>([
      'webhooksubscriptions',
      '-l',
      `test=${label}`,
    ]);
    const uids = own.items.map(({ metadata }) => metadata.uid);
    expect(uids).toHaveLength(names.length);
    const ofTheirs = 'FROM parley.deliveries d WHERE d.subscription_uid = ANY ($1)';
    await database.connect();
    await eventually(async () => {
      const { rows } = await database.query(`SELECT d.state, d.attempts ${ofTheirs} AND d.state <> 'succeeded'`, [uids]);
      expect(rows).toEqual([]);
    });
    const { rows } = await database.query(
      `SELECT d.id, d.attempts ${ofTheirs} AND d.attempts <> (SELECT count(*) FROM parley.delivery_attempts a WHERE a.delivery_id = d.id)`,
      [uids],
    );
    expect(rows).toEqual([]);
  } finally {
    await database.end();
    await client.kubectl(['delete', 'webhooksubscriptions', '-l', `test=${label}`], { allowFailure: true });
    await sink.close();
  }
});
