import type { Transport } from '../../kube/index.ts';
import type { Config } from '../../platform/config/config.ts';
import { lazily } from '../../platform/lazily.ts';
import type { Logger } from '../../platform/logging.ts';

/** Creates a transport that connects when the first Secret is read: agents without Secrets need no cluster. */
export function lazyTransport(config: Pick<Config, 'KUBECONFIG'>, logger: Logger): Pick<Transport, 'request' | 'close'> {
  const transport = lazily(async () => {
    // The import is late because this is a tenth of the code of a job process.
    const { createTransport, kubeConfigOf } = await import('../../kube/index.ts');
    return createTransport({ kubeConfig: kubeConfigOf(config), logger });
  });
  return {
    request: async (request) => (await transport.get()).request(request),
    close: () => transport.close((opened) => opened.close()),
  };
}
