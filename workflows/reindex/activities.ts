import { Context } from '@temporalio/activity';

import type { IngestionDependencies } from '../../knowledge/ingestion/step.ts';
import { REFERENCE_LENGTH } from '../../knowledge/lexical/vectors.ts';
import { indexDocument } from '../../knowledge/ingestion/index-document.ts';
import type { ReindexActivities } from '../ingestion/types.ts';
import { whileAlive } from '../while-alive.ts';

/** How far the indexing of one document has got. */
interface Heartbeat {
  readonly done: number;
}

export function createReindexActivities(
  dependencies: Pick<IngestionDependencies, 'knowledge' | 'vectors' | 'embedderOf'>,
): ReindexActivities {
  const { knowledge } = dependencies;
  return {
    async beginReindex({ org, collectionId }) {
      const collection = await knowledge.collections.get({ org, id: collectionId });
      if (collection === undefined || collection.deleted) return undefined;
      await knowledge.collections.reweighed({ org, id: collectionId, averageLength: REFERENCE_LENGTH });
      return REFERENCE_LENGTH;
    },
    async reindexDocument({ org, collectionId, documentId }) {
      const context = Context.current();
      const [collection, document] = await Promise.all([
        knowledge.collections.get({ org, id: collectionId }),
        knowledge.documents.get({ org, id: documentId }),
      ]);
      // Documents under ingestion get the new length anyway.
      if (collection === undefined || collection.deleted || document?.status !== 'completed') return;
      let beat = (context.info.heartbeatDetails as Heartbeat | undefined) ?? { done: 0 };
      const step = {
        document,
        collection,
        signal: context.cancellationSignal,
        averageLength: collection.averageLength,
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
