import type { ApiDependencies } from '../../api/dependencies.ts';

/** For facades that are asked nothing about calls but what Postgres knows: there is no media server, and there are no recordings. */
export const noCalls: ApiDependencies['calls'] = {
  mediaServer: undefined,
  // No bound but that of live calls.
  unjoinedPercent: 200,
  recordings: {
    read: () => Promise.reject(new Error('this facade was started without a storage for recordings')),
    delete: () => Promise.resolve(),
  },
  publicUrl: undefined,
  page: false,
};
