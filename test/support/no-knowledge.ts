import type { ApiDependencies } from '../../api/dependencies.ts';
import { loadConfig } from '../../platform/config/config.ts';

const unused = (): Promise<never> => Promise.reject(new Error('this facade was started without the means for documents and searches'));

/** Facades that are asked nothing about documents get these: knowledge bases themselves can be made and deleted. */
export const noKnowledge: ApiDependencies['knowledge'] = {
  files: { put: unused, read: unused, delete: unused },
  jobs: { ingest: unused, clearDocument: unused, clearCollection: unused },
  // Nothing was ever put into any knowledge base.
  search: { search: () => Promise.resolve(undefined) },
  profiles: loadConfig({}).PARLEY_EMBEDDING_PROFILES,
  rerankProfiles: [],
};
