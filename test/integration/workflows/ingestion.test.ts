import { WorkflowFailedError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';

import { REINDEXED_DOCUMENTS, ingestionQueues, workflowIds } from '../../../knowledge/jobs/names.ts';
import { eventually } from '../../support/eventually.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { clearCollection, clearDocument, ingestDocument, reindexCollection } from '../../../workflows/catalogue.ts';
import { broken, gone, job, pretendedIngestion, slow, type Pretence } from './pretended-ingestion.ts';
import { unique, whileWorking } from './support.ts';

async function ingest(pretence: Pretence) {
  const activities = pretendedIngestion(pretence);
  const outcome = await whileWorking({ address: await temporalAddress(), activities }, (client, taskQueue) =>
    client.workflow.execute(ingestDocument, { taskQueue, workflowId: unique('ingest'), args: [{ ...job, documentId: unique('doc') }] }),
  );
  return { outcome, diary: activities.diary };
}

const way = ['beginIngestion', 'parseDocument', 'indexDocument', 'verifyDocument', 'completeDocument'];

describe('the ingestion of a document', () => {
  it('goes from stage to stage', async () => {
    expect(await ingest({})).toEqual({ outcome: 'completed', diary: way });
    expect(await ingest({ kind: 'website' })).toEqual({ outcome: 'completed', diary: ['beginIngestion', 'fetchPages', ...way.slice(1)] });
  });

  it('tries again what may go better, and goes on from there', async () => {
    const { outcome, diary } = await ingest({
      failing: { indexDocument: [new Error('the store is unavailable'), new Error('still away')] },
    });
    expect(outcome).toBe('completed');
    expect(diary.filter((step) => step === 'indexDocument')).toHaveLength(3);
    expect(diary.filter((step) => step === 'parseDocument')).toHaveLength(1);
  });

  it('moves a small file that takes long to where the big ones are', async () => {
    const address = await temporalAddress();
    const queues = ingestionQueues(unique('test'));
    const small = pretendedIngestion({ failing: { parseDocument: [slow()] } });
    const bulk = pretendedIngestion();
    const outcome = await whileWorking({ address, activities: small, worker: { taskQueue: queues.small } }, () =>
      whileWorking({ address, activities: bulk, worker: { taskQueue: queues.bulk } }, (client) =>
        client.workflow.execute(ingestDocument, { taskQueue: queues.small, workflowId: unique('ingest'), args: [job] }),
      ),
    );
    expect(outcome).toBe('completed');
    expect(bulk.diary).toEqual(['parseDocument', 'indexDocument']);
    expect(small.diary).toEqual(['beginIngestion', 'parseDocument', 'verifyDocument', 'completeDocument']);
  });

  it('fetches pages on a queue where only other sites wait, and reads them as it does any small file', async () => {
    const address = await temporalAddress();
    const queues = ingestionQueues(unique('test'));
    const small = pretendedIngestion({ kind: 'website' });
    const websites = pretendedIngestion();
    const outcome = await whileWorking({ address, activities: small, worker: { taskQueue: queues.small } }, () =>
      whileWorking({ address, activities: websites, worker: { taskQueue: queues.websites } }, (client) =>
        client.workflow.execute(ingestDocument, { taskQueue: queues.small, workflowId: unique('ingest'), args: [job] }),
      ),
    );
    expect(outcome).toBe('completed');
    expect(websites.diary).toEqual(['fetchPages']);
    expect(small.diary).toEqual(way);
  });

  it('is one local activity where a small document is read in one pass', async () => {
    const older = unique('doc');
    const activities = pretendedIngestion({ replaced: [older] });
    const events = await whileWorking({ address: await temporalAddress(), activities }, async (client, taskQueue) => {
      const options = { taskQueue, workflowId: unique('ingest'), args: [job, { small: true }] as [typeof job, { small: boolean }] };
      const handle = await client.workflow.start(ingestDocument, options);
      expect(await handle.result()).toBe('completed');
      await eventually(() => expect(activities.diary).toContain(`removeDocument ${older}`));
      return (await handle.fetchHistory()).events ?? [];
    });
    expect(activities.diary[0]).toBe('ingestInOnePass');
    expect(events.filter((event) => event.activityTaskScheduledEventAttributes !== null)).toEqual([]);
  });

  it.each([
    ['has stages by its kind', { onePass: { outcome: 'staged', kind: 'file' } }, way.slice(1)],
    ['takes long', { onePass: { outcome: 'large' } }, way],
    ['was deleted', { onePass: { outcome: 'gone' } }, []],
    ['failed', { onePass: { outcome: 'failed' } }, []],
    ['finds no server', { failing: { ingestInOnePass: [new Error('away'), new Error('away'), new Error('away')] } }, way],
  ] as const)('goes on from one pass as it has to where that %s', async (_what, pretence, then) => {
    const activities = pretendedIngestion(pretence);
    await whileWorking({ address: await temporalAddress(), activities }, (client, taskQueue) =>
      client.workflow.execute(ingestDocument, { taskQueue, workflowId: unique('ingest'), args: [job, { small: true }] }),
    );
    expect(activities.diary.filter((step) => step !== 'ingestInOnePass')).toEqual(then);
  });

  it('ends a document that cannot be read, with its code', async () => {
    const { outcome, diary } = await ingest({ failing: { parseDocument: [broken('password_protected')] } });
    expect(outcome).toBe('failed');
    expect(diary).toEqual(['beginIngestion', 'parseDocument', 'failDocument password_protected: the file is broken']);
  });

  it('has nothing more to say of a document that was deleted', async () => {
    const { outcome, diary } = await ingest({ failing: { indexDocument: [gone()] } });
    expect(outcome).toBe('gone');
    expect(diary).toEqual(['beginIngestion', 'parseDocument', 'indexDocument']);
  });

  it('has what it took the place of cleared away', async () => {
    const older = unique('doc');
    const activities = pretendedIngestion({ replaced: [older] });
    await whileWorking({ address: await temporalAddress(), activities }, async (client, taskQueue) => {
      await client.workflow.execute(ingestDocument, { taskQueue, workflowId: unique('ingest'), args: [job] });
      await eventually(() => expect(activities.diary).toContain(`removeDocument ${older}`));
    });
  });
});

describe('clearing away', () => {
  it('stops the ingestion first', async () => {
    const documentId = unique('doc');
    const activities = pretendedIngestion({ failing: { indexDocument: Array.from({ length: 100 }, () => new Error('away')) } });
    await whileWorking({ address: await temporalAddress(), activities }, async (client, taskQueue) => {
      const args: [typeof job] = [{ ...job, documentId }];
      const ingestion = await client.workflow.start(ingestDocument, { taskQueue, workflowId: workflowIds.ingestion(documentId), args });
      await eventually(() => expect(activities.diary).toContain('indexDocument'));
      await client.workflow.execute(clearDocument, { taskQueue, workflowId: workflowIds.clearDocument(documentId), args });
      await expect(ingestion.result()).rejects.toThrow(WorkflowFailedError);
      expect((await ingestion.describe()).status.name).toBe('CANCELLED');
      expect(activities.diary).toContain(`removeDocument ${documentId}`);
    });
  });

  it('takes all documents of a knowledge base, then what is left of it', async () => {
    const activities = pretendedIngestion({ documents: 61 });
    await whileWorking({ address: await temporalAddress(), activities }, (client, taskQueue) =>
      client.workflow.execute(clearCollection, { taskQueue, workflowId: unique('clear'), args: [job] }),
    );
    expect(new Set(activities.diary).size).toBe(62);
    expect(activities.diary.at(-1)).toBe('removeCollection');
  });
});

describe('reindexing', () => {
  it('goes through all documents once, and says how many it has been through', async () => {
    const activities = pretendedIngestion({ documents: 55 });
    await whileWorking({ address: await temporalAddress(), activities }, async (client, taskQueue) => {
      const handle = await client.workflow.start(reindexCollection, { taskQueue, workflowId: unique('reindex'), args: [job, '', 1_000] });
      await handle.result();
      expect(await handle.query<number>(REINDEXED_DOCUMENTS)).toBe(1_055);
    });
    expect(activities.diary).toHaveLength(55);
    expect(new Set(activities.diary).size).toBe(55);
  });
});
