import { createTransport, kubeConfigOf, type Transport } from '../../kube/index.ts';
import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/logging.ts';

/** Agents without Secrets need no cluster: it is looked for when the first Secret is read. */
export function lazyTransport(config: Config, logger: Logger): Pick<Transport, 'request' | 'close'> {
  let transport: Transport | undefined;
  return {
    request: async (request) => {
      transport ??= createTransport({ kubeConfig: kubeConfigOf(config), logger });
      return transport.request(request);
    },
    close: async () => transport?.close(),
  };
}
