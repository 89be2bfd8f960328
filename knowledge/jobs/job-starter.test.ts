import { expect, it } from 'vitest';

import type { CollectionJob, DocumentJob } from '../../knowledge/jobs/names.ts';
import { createLogger } from '../../platform/logging.ts';
import { JobStarter } from './job-starter.ts';

const job = (documentId: string) => ({ org: 'acme', knowledgeBase: 'manuals', collectionId: 'col_1', documentId });

/** Stands in for Temporal and answers on command. */
function slowJobs() {
  const asked: string[] = [];
  const answers: PromiseWithResolvers<void>[] = [];
  const ask = (id: string): Promise<void> => {
    asked.push(id);
    const answer = Promise.withResolvers<void>();
    answers.push(answer);
    return answer.promise;
  };
  return {
    asked,
    answers,
    jobs: {
      ingest: ({ documentId }: DocumentJob) => ask(documentId),
      clearDocument: ({ documentId }: DocumentJob) => ask(documentId),
      clearCollection: ({ collectionId }: CollectionJob) => ask(collectionId),
    },
  };
}

const starterOf = (jobs: ReturnType<typeof slowJobs>['jobs']) =>
  new JobStarter({ jobs, logger: createLogger({ role: 'operator', level: 'silent' }) });

it('starts a few at a time, in turn', async () => {
  const { asked, answers, jobs } = slowJobs();
  const starter = starterOf(jobs);
  for (const id of ['1', '2', '3', '4', '5', '6']) starter.ingest(job(id));
  expect(asked).toEqual(['1', '2', '3', '4']);
  answers[1]?.resolve();
  await expect.poll(() => asked).toEqual(['1', '2', '3', '4', '5']);
});

it('lets organisations take turns', async () => {
  const { asked, answers, jobs } = slowJobs();
  const starter = starterOf(jobs);
  for (const id of ['1', '2', '3', '4', '5', '6', '7']) starter.ingest(job(id));
  starter.ingest({ ...job('other'), org: 'globex' });
  for (const answer of answers) answer.resolve();
  await expect.poll(() => asked).toEqual(['1', '2', '3', '4', '5', 'other', '6', '7']);
});

it('lets knowledge bases of an organisation take turns, and organisations all the same', async () => {
  const { asked, answers, jobs } = slowJobs();
  const starter = starterOf(jobs);
  for (const id of ['1', '2', '3', '4', '5', '6', '7']) starter.ingest(job(id));
  for (const id of ['page 1', 'page 2']) starter.ingest({ ...job(id), collectionId: 'col_2' });
  starter.ingest({ ...job('other'), org: 'globex' });
  for (let answered = 0; answered < 10; answered += 1) {
    await expect.poll(() => answers.length).toBeGreaterThan(answered);
    answers[answered]?.resolve();
  }
  expect(asked).toEqual(['1', '2', '3', '4', '5', 'other', 'page 1', '6', 'page 2', '7']);
});

it('lets those that wait go when Temporal does not answer, and takes new ones', async () => {
  const { asked, answers, jobs } = slowJobs();
  const starter = starterOf(jobs);
  for (const id of ['1', '2', '3', '4', '5', '6']) starter.ingest(job(id));
  for (const answer of answers) answer.reject(new Error('no answer'));
  await new Promise(setImmediate);
  starter.clearDocument(job('7'));
  expect(asked).toEqual(['1', '2', '3', '4', '7']);
});

it('waits for what is under way when it ends', async () => {
  const { asked, answers, jobs } = slowJobs();
  const starter = starterOf(jobs);
  for (const id of ['1', '2', '3', '4', '5']) starter.ingest(job(id));
  let closed = false;
  const closing = starter.close().then(() => (closed = true));
  starter.ingest(job('6'));
  await new Promise(setImmediate);
  expect(closed).toBe(false);
  for (const answer of answers) answer.resolve();
  await closing;
  expect(asked).toEqual(['1', '2', '3', '4']);
});
