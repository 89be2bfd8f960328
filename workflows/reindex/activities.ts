import { Context } from '@temporalio/activity';

import type { IngestionDependencies } from '../../knowledge/ingestion/step.ts';
import { indexDocument } from '../../knowledge/ingestion/index-document.ts';
import type { ReindexActivities } from '../ingestion/types.ts';
import { whileAlive } from '../while-alive.ts';

/** The progress of indexing one document. */
interface Heartbeat {
  readonly done: number;
}

export function createReindexActivities(
  dependencies: Pick<IngestionDependencies, 'knowledge' | 'vectors' | 'embedderOf'>,
): ReindexActivities {
  const { knowledge } = dependencies;
  return {
    async reindexDocument({ org, collectionId, documentId }) {
      const context = Context.current();
      const [collection, document] = await Promise.all([
        knowledge.collections.get({ org, id: collectionId }),
        knowledge.documents.get({ org, id: documentId }),
      ]);
      // The ingestion of a document writes its vectors itself.
      if (collection === undefined || collection.deleted || document?.status !== 'completed') return;
      let beat = (context.info.heartbeatDetails as Heartbeat | undefined) ?? { done: 0 };
      const step = {
        document,
        collection,
        signal: context.cancellationSignal,
        from: beat.done,
        report: async (done: number): Promise<void> => {
          beat = { done };
          context.heartbeat(beat);
        },
      };
      await whileAlive(
        () => context.heartbeat(beat),
        () => indexDocument(step, dependencies),
      );
    },
  };
}
