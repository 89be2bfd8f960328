import { Context } from '@temporalio/activity';

import { clearDocument } from '../../knowledge/ingestion/clear-document.ts';
import type { IngestionDependencies } from '../../knowledge/ingestion/step.ts';
import { collectionRef } from '../../knowledge/search/create-search.ts';
import type { ClearingActivities } from './types.ts';

export function createClearingActivities(
  dependencies: Pick<IngestionDependencies, 'knowledge' | 'vectors' | 'storage'>,
): ClearingActivities {
  const { knowledge, vectors } = dependencies;
  return {
    async removeDocument({ org, collectionId, documentId }) {
      Context.current().heartbeat();
      const collection = await knowledge.collections.get({ org, id: collectionId });
      if (collection !== undefined) await clearDocument({ collection, documentId }, dependencies);
    },
    documentsOf: ({ org, collectionId }, page) => knowledge.documents.idsOf({ org, collectionId, ...page }),
    async removeCollection({ org, collectionId }) {
      const collection = await knowledge.collections.get({ org, id: collectionId });
      if (collection?.deleted !== true) return;
      await vectors.deleteCollection(collectionRef(collection));
      await knowledge.collections.remove({ org, id: collectionId });
    },
  };
}
