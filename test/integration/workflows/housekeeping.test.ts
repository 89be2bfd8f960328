import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';

import { Context } from '@temporalio/activity';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { Registry } from 'prom-client';
import { beforeAll, describe, expect, it } from 'vitest';

import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { CallDeletion } from '../../../calls/call-deletion.ts';
import { housekeeping } from '../../../workflows/catalogue.ts';
import { createHousekeepingActivities } from '../../../workflows/housekeeping/activities.ts';
import { ensureHousekeepingSchedule } from '../../../workflows/housekeeping/schedule.ts';
import { eventually } from '../../support/eventually.ts';
import { migratedDatabase, openPatientStore } from '../../support/postgres.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { registerCall } from '../store/calls-support.ts';
import { revisionOf, session } from '../store/support.ts';
import { pretendedActivities, unique, whileWorking } from './support.ts';

let address: string;
beforeAll(async () => {
  address = await temporalAddress();
});

async function endless(): Promise<never> {
  for (const { heartbeat, sleep } = Context.current(); ; heartbeat()) await sleep(20);
}

describe('housekeeping', () => {
  it('deletes in Postgres what is superseded or long dead, in every organisation, when its schedule fires', async () => {
    const { url } = await migratedDatabase();
    const store = openPatientStore(url);
    const registry = new Registry();
    try {
      const admin = await session(url);
      for (const org of ['acme', 'beta']) {
        for (let v = 0; v < 13; v += 1) {
          const { revision, config } = revisionOf({ org, v });
          await store.agentRevisions.put({ org, agentName: 'n', revision, config });
          await store.agentReleases.serve({ org, agentName: 'n', revision });
        }
        await store.apiKeys.create({ org, name: 'dead', permissions: [], expirationDays: 1 });
        await store.apiKeys.create({ org, name: 'alive', permissions: [], expirationDays: 1 });
        await store.knowledge.embeddingCache.put(org, new Map([['ab'.repeat(32), Float32Array.of(0.5)]]));
        const call = await registerCall(store, org);
        await store.calls.calls.addRecording({ ...call, key: `recordings/${org}.ogg`, bytes: 1, durationMs: 1, events: () => [] });
        await store.calls.calls.end({ ...call, reason: 'user_ended_call', events: () => [] });
      }
      // A revision is immutable even for the superuser; only as a replica of itself does the server let history be aged.
      await admin.query(
        "SET session_replication_role = replica; UPDATE parley.agent_revisions SET created_at = created_at - interval '31 days'",
      );
      await admin.query(
        "SET session_replication_role = origin; UPDATE parley.api_keys SET revoked_at = now() - interval '91 days' WHERE name = 'dead'",
      );
      await admin.query("UPDATE parley.embedding_cache SET used_at = now() - interval '31 days' WHERE org = 'acme'");

      await admin.query("SET session_replication_role = replica; UPDATE parley.calls SET ended_at = now() - interval '2 days'");
      await store.organizations.setCallRetention('acme', { callRetentionDays: 1 });
      await store.organizations.setCallRetention('beta', { recordingRetentionDays: 1 });

      const files = openFileStorage({ url: pathToFileURL(tmpdir()).href });
      const deletion = new CallDeletion({ store: store.calls, files });
      await whileWorking(
        {
          address,
          activities: createHousekeepingActivities({ store, deletion, keep: { eventsKeepDays: 30, bodiesKeepDays: 7 }, registry }),
        },
        async (client, taskQueue) => {
          const scheduleId = unique('housekeeping');
          await ensureHousekeepingSchedule(client, { taskQueue, scheduleId });
          const schedule = client.schedule.getHandle(scheduleId);
          try {
            await schedule.trigger();
            const action = await eventually(async () => {
              const [recent] = (await schedule.describe()).info.recentActions;
              if (recent?.action.type !== 'startWorkflow') throw new Error('not started yet');
              return recent.action.workflow;
            });
            const totals = await client.workflow.getHandle<typeof housekeeping>(action.workflowId, action.firstExecutionRunId).result();
            expect(totals).toEqual({ organizations: 2, revisions: 6, apiKeys: 2 });
          } finally {
            await schedule.delete();
          }
        },
      );
      const { rows } = await admin.query(
        'SELECT (SELECT count(*)::int FROM parley.agent_revisions) AS revisions, (SELECT array_agg(DISTINCT name) FROM parley.api_keys) AS keys',
      );
      expect(rows).toEqual([{ revisions: 20, keys: ['alive'] }]);
      const calls = await admin.query('SELECT org, recording_key FROM parley.calls');
      expect(calls.rows).toEqual([{ org: 'beta', recording_key: null }]);
      expect((await admin.query('SELECT org FROM parley.embedding_cache')).rows).toEqual([{ org: 'beta' }]);
      for (const [what, count] of [
        ['agent_revisions', 6],
        ['cached_embeddings', 1],
        ['calls', 1],
        ['recordings', 1],
      ])
        expect(await registry.metrics()).toContain(`parley_housekeeping_deleted_total{what="${what}"} ${count}`);
    } finally {
      await store.close();
    }
  });

  it('goes through more organisations than one run holds, each of them once', async () => {
    const activities = pretendedActivities(510);
    await whileWorking({ address, activities }, async (client, taskQueue) => {
      const handle = await client.workflow.start(housekeeping, { taskQueue, workflowId: unique('many'), args: [] });
      expect(await handle.result()).toEqual({ organizations: 510, revisions: 1_020, apiKeys: 510 });
      const first = await client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId).describe();
      expect(first.status.name).toBe('CONTINUED_AS_NEW');
    });
    expect([...activities.tidied].sort()).toEqual([...new Set(activities.tidied)].sort());
  });

  it('does not let one organisation’s trouble keep the others waiting, and shows it at the end', async () => {
    const activities = pretendedActivities(60, ['org-00000', 'org-00059']);
    await whileWorking({ address, activities }, async (client, taskQueue) => {
      const failure = await client.workflow
        .execute(housekeeping, { taskQueue, workflowId: unique('trouble'), args: [] })
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(WorkflowFailedError);
      const { cause } = failure as WorkflowFailedError;
      expect(cause).toBeInstanceOf(ApplicationFailure);
      expect(cause).toMatchObject({
        type: 'OrganizationsNotTidied',
        message: expect.stringContaining('2 organisations'),
        details: [{ organizations: 58, revisions: 116, apiKeys: 58, failed: ['org-00000', 'org-00059'] }],
      });
    });
    expect(activities.tidied).toHaveLength(58);
  });

  it('stops when it is cancelled', async () => {
    await whileWorking({ address, activities: { ...pretendedActivities(1), tidyOrganization: endless } }, async (client, taskQueue) => {
      const handle = await client.workflow.start(housekeeping, { taskQueue, workflowId: unique('cancelled'), args: [] });
      await eventually(async () => expect((await handle.describe()).raw.pendingActivities?.length).toBe(1));
      await handle.cancel();
      const failure = (await handle.result().catch((error: unknown) => error)) as WorkflowFailedError;
      expect(failure.cause).toBeInstanceOf(CancelledFailure);
    });
  });
});

describe('its schedule', () => {
  it('is made once, brought up to date, and stays paused if somebody paused it', async () => {
    await whileWorking({ address, activities: pretendedActivities(0) }, async (client, taskQueue) => {
      const scheduleId = unique('housekeeping');
      const ensure = (queue: string) => ensureHousekeepingSchedule(client, { taskQueue: queue, scheduleId });
      await Promise.all([ensure('old'), ensure('old'), ensure('old')]);
      const schedule = client.schedule.getHandle(scheduleId);
      try {
        expect((await schedule.describe()).info.lastUpdatedAt).toBeUndefined();
        await schedule.pause('a person looks into something');
        await eventually(async () => expect((await schedule.describe()).state.paused).toBe(true));
        await ensure(taskQueue);
        const seen = await schedule.describe();
        expect(seen.state).toMatchObject({ paused: true, note: 'a person looks into something' });
        expect(seen.action).toMatchObject({ type: 'startWorkflow', workflowType: 'housekeeping', taskQueue });
        expect(seen.spec.jitter).toBe(3_600_000);
        expect(seen.spec.calendars).toHaveLength(1);
      } finally {
        await schedule.delete();
      }
    });
  });
});
