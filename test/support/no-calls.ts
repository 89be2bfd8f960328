import type { ApiDependencies } from '../../api/dependencies.ts';

/** Facades that are asked nothing about calls but what Postgres knows get these: there is no media server, and there are no recordings. */
export const noCalls: ApiDependencies['calls'] = {
  mediaServer: undefined,
  // Nothing but the number of live calls is bounded.
  unjoinedPercent: 200,
  recordings: {
    read: () => Promise.reject(new Error('this facade was started without a storage for recordings')),
    delete: () => Promise.resolve(),
  },
  publicUrl: undefined,
  page: false,
};
