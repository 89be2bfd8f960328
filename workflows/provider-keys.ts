/** Lets activities read the keys of agents' providers. */
import { createTransport, kubeConfigOf } from '../kube/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../platform/config/config.ts';
import type { Logger } from '../platform/logging.ts';
import { createProviderKeyReader, ProviderKeyError, type ProviderKeyReader } from '../calls/provider-access/index.ts';

export interface ProviderKeys {
  readonly keys: ProviderKeyReader;
  /** Reads without a cache, for rare reads that must see a rotation at once. */
  readonly currentKeys: ProviderKeyReader;
  close(): Promise<void>;
}

export interface OpenProviderKeysOptions {
  readonly config: Config;
  /** True if KUBECONFIG is set: without it, only models whose key the operator has set can be asked. */
  readonly knowsCluster: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Connects to nothing before it is used. @throws ConfigError for a kubeconfig that can't be used */
export function openProviderKeys({ config, knowsCluster, clock, logger }: OpenProviderKeysOptions): ProviderKeys {
  if (!knowsCluster) return { keys: noKeys, currentKeys: noKeys, close: async () => undefined };
  const transport = createTransport({ kubeConfig: kubeConfigOf(config), logger });
  return {
    keys: createProviderKeyReader({ transport, clock }),
    currentKeys: createProviderKeyReader({ transport, clock, freshMs: 0 }),
    close: () => transport.close(),
  };
}

/** Rejects every read as retryable: another worker may have access. */
const noKeys: ProviderKeyReader = {
  read(org, { name }) {
    const message = `Secret ${org}/${name} can't be read: KUBECONFIG is not set for this worker`;
    return Promise.reject(new ProviderKeyError('unavailable', message));
  },
};
