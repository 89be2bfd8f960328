import type { Component } from '../supervisor.ts';
import { kubernetesProgram } from './kube-apiserver.ts';
import { isOk } from './probes.ts';

export const KUBE_CONTROLLER_MANAGER = kubernetesProgram('kube-controller-manager', 50);

/** Runs only the controllers that the platform depends on: owned objects go with their owner, and namespaces can be deleted. */
export function kubeControllerManagerComponent(options: {
  readonly binary: string;
  readonly kubeconfig: string;
  readonly port: number;
}): Component {
  const url = `https://127.0.0.1:${options.port}/healthz`;
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
    check: (signal) => isOk(url, signal),
    liveUrl: url,
  };
}
