/** Changes knowledge bases behind the API's back: straight in Postgres, the storage and Temporal. */
import { openKnowledge, type Knowledge } from '../../knowledge/open-knowledge.ts';
import { loadConfig } from '../../platform/config/config.ts';
import { createLogger } from '../../platform/logging.ts';
import { createRegistry } from '../../platform/metrics.ts';
import type { Collection, Store } from '../../store/index.ts';
import { withStore } from '../database.ts';
import { UserError } from '../../platform/user-error.ts';
import { version } from '../../platform/version.ts';

export interface OfflineBase {
  readonly store: Store;
  readonly knowledge: Knowledge;
  readonly collection: Collection;
}

/** @throws UserError when there is no such knowledge base, or nothing was ever put into it */
export async function withKnowledgeBase<T>(
  base: { readonly org: string; readonly name: string },
  use: (opened: OfflineBase) => Promise<T>,
): Promise<T> {
  return withStore(async (store) => {
    const collection = await store.knowledge.collections.byName(base);
    if (collection === undefined) {
      throw new UserError(`organisation "${base.org}" has no knowledge base "${base.name}" with documents`, {
        cure: `kubectl get knowledgebases --namespace ${base.org}`,
      });
    }
    return withKnowledge(store, (knowledge) => use({ store, knowledge, collection }));
  });
}

/** Opens for one command what the roles open of knowledge bases. */
export async function withKnowledge<T>(store: Store, use: (knowledge: Knowledge) => Promise<T>): Promise<T> {
  const logger = createLogger({ role: 'cli', level: 'silent' });
  const knowledge = openKnowledge({ config: loadConfig(process.env), store, logger, registry: createRegistry({ role: 'cli', version }) });
  try {
    return await use(knowledge);
  } finally {
    await knowledge.close();
  }
}
