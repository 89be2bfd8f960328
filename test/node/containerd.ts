/** Runs the container runtime of the node, and imports the images in it. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Component } from '../../local-stack/supervisor.ts';

const pauseImage = 'parley.test/pause:1';

/** Runs the container runtime, with the bridge plugin for the pods' network. */
export function containerdPart({ work, socket }: { readonly work: string; readonly socket: string }): Component {
  const file = join(work, 'containerd.toml');
  const ctr = (...args: string[]) => promisify(execFile)('ctr', ['-a', socket, ...args], { timeout: 30_000 });
  return {
    name: 'containerd',
    dependsOn: [],
    prepare: async () => {
      const network = join(work, 'cni');
      mkdirSync(network, { recursive: true });
      const bridge = {
        type: 'bridge',
        bridge: 'parley0',
        isGateway: true,
        ipMasq: false,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir: join(work, 'addresses'),
          ranges: [[{ subnet: '10.211.0.0/16', rangeStart: '10.211.1.1' }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      };
      const conflist = {
        cniVersion: '1.0.0',
        name: 'parley',
        plugins: [bridge, { type: 'portmap', capabilities: { portMappings: true } }],
      };
      writeFileSync(join(network, '10-parley.conflist'), JSON.stringify(conflist));
      writeFileSync(file, containerdConfiguration({ work, socket, network }));
    },
    command: () => ({ file: '/usr/bin/containerd', args: ['--config', file] }),
    check: () => ctr('version').then(() => undefined),
  };
}

function containerdConfiguration({
  work,
  socket,
  network,
}: {
  readonly work: string;
  readonly socket: string;
  readonly network: string;
}): string {
  return `version = 2
root = "${work}/containerd"
state = "${work}/containerd-state"
[grpc]
  address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${network}"
`;
}

/** Puts an OCI archive among the node's images. */
export async function importImage(options: { readonly socket: string; readonly archive: string; readonly name: string }): Promise<void> {
  const { socket, archive, name } = options;
  await promisify(execFile)('ctr', ['-a', socket, '-n', 'k8s.io', 'images', 'import', `--base-name=${name}`, archive], {
    timeout: 300_000,
  });
}

/** Imports the image of the process that holds a pod's namespaces: nothing but catatonit, which waits. */
export async function importPauseImage({ socket, work }: { readonly socket: string; readonly work: string }): Promise<void> {
  const [name = '', tag = ''] = pauseImage.split(':');
  const layout = join(work, 'pause');
  const script = `set -eu
umoci init --layout ${layout}
umoci new --image ${layout}:${tag}
mkdir -p ${work}/pause-files && cp /usr/bin/catatonit ${work}/pause-files/pause
tar -C ${work}/pause-files -cf ${layout}.layer.tar .
umoci raw add-layer --image ${layout}:${tag} ${layout}.layer.tar
umoci config --image ${layout}:${tag} --config.entrypoint=/pause --config.cmd=-P --config.user=65535:65535
tar -C ${layout} -cf ${layout}.tar .`;
  await promisify(execFile)('sh', ['-c', script]);
  await importImage({ socket, archive: `${layout}.tar`, name });
}
