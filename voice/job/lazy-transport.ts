import type { Transport } from '../../kube/index.ts';
import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/logging.ts';

/** Agents without Secrets need no cluster: it is looked for when the first Secret is read. */
export function lazyTransport(config: Config, logger: Logger): Pick<Transport, 'request' | 'close'> {
  let transport: Promise<Transport> | undefined;
  const open = async (): Promise<Transport> => {
    // A tenth of what each process of a call would load.
    const { createTransport, kubeConfigOf } = await import('../../kube/index.ts');
    return createTransport({ kubeConfig: kubeConfigOf(config), logger });
  };
  return {
    request: async (request) => (await (transport ??= open())).request(request),
    close: async () => (await transport)?.close(),
  };
}
