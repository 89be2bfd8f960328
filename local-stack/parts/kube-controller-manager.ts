import type { Part } from '../supervisor.ts';
import { httpCheck } from './http-check.ts';

export interface KubeControllerManagerOptions {
  readonly binary: string;
  readonly kubeconfig: string;
  readonly port: number;
}

/** Only what the platform leans on: owned objects go with their owner, and namespaces can be deleted. */
export function kubeControllerManagerPart(options: KubeControllerManagerOptions): Part {
  return {
    name: 'kube-controller-manager',
    dependsOn: ['kube-apiserver'],
    command: () => ({
      file: options.binary,
      args: [
        `--kubeconfig=${options.kubeconfig}`,
        '--leader-elect=false',
        '--controllers=garbage-collector-controller,namespace-controller',
        '--bind-address=127.0.0.1',
        `--secure-port=${options.port}`,
        '--authentication-skip-lookup=true',
        '--profiling=false',
      ],
    }),
    check: async (signal) => (await httpCheck({ url: `https://127.0.0.1:${options.port}/healthz`, signal })).status === 200,
  };
}
