import type { Transport } from '../../kube/index.ts';
import type { Config } from '../../platform/config/config.ts';
import { lazily } from '../../platform/lazily.ts';
import type { Logger } from '../../platform/logging.ts';

/** Agents without Secrets need no cluster: it is looked for when the first Secret is read. */
export function lazyTransport(config: Pick<Config, 'KUBECONFIG'>, logger: Logger): Pick<Transport, 'request' | 'close'> {
  const transport = lazily(async () => {
    // A tenth of what each process of a call would load.
    const { createTransport, kubeConfigOf } = await import('../../kube/index.ts');
    return createTransport({ kubeConfig: kubeConfigOf(config), logger });
  });
  return {
    request: async (request) => (await transport.get()).request(request),
    close: () => transport.close((opened) => opened.close()),
  };
}
