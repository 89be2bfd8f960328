import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { binarySpec, type BinaryName } from '../../../local-stack/programs.ts';
import { resolveBinary } from '../../../local-stack/binaries/resolve.ts';
import { ensureCredentials, USERS, writeKubeconfig } from '../../../local-stack/components/credentials.ts';
import { etcdComponent } from '../../../local-stack/components/etcd.ts';
import { ensureMutualTls } from '../../../local-stack/components/secrets.ts';
import { apiserverCa, kubeApiserverComponent } from '../../../local-stack/components/kube-apiserver.ts';
import { freePorts } from '../../../local-stack/ports.ts';
import { Supervisor } from '../../../local-stack/supervisor.ts';
import { eventually } from '../../support/eventually.ts';

/** Runs an API server that a test may kill: it shares nothing with the one that the other files use. */
export interface OwnApiServer {
  readonly kubeconfig: string;
  /** Kills the process with SIGKILL; resolves when its successor serves. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export async function ownApiServer(): Promise<OwnApiServer> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-own-api-server-'));
  await mkdir(join(folder, 'kube'), { mode: 0o700 });
  const [etcd, apiserver] = await Promise.all([binary('etcd'), binary('kube-apiserver')]);
  const [etcdPort = 0, peerPort = 0, port = 0] = await freePorts(3);
  const credentials = ensureCredentials(join(folder, 'kube', 'pki'));
  const etcdAt = { port: etcdPort, tls: ensureMutualTls(join(folder, 'kube', 'pki'), 'etcd') };
  const supervisor = new Supervisor({
    components: [
      etcdComponent({ binary: etcd, dataDir: join(folder, 'etcd'), ...etcdAt, peerPort, unsafeNoFsync: true }),
      kubeApiserverComponent({ binary: apiserver, credentials, etcd: etcdAt, port }),
    ],
    logDir: join(folder, 'logs'),
    runDir: join(folder, 'run'),
  });
  const stop = async (): Promise<void> => {
    await supervisor.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await supervisor.start();
  } catch (error) {
    await stop();
    throw error;
  }
  const kubeconfig = join(folder, 'admin.kubeconfig');
  writeKubeconfig({
    file: kubeconfig,
    server: `https://127.0.0.1:${port}`,
    ca: apiserverCa(credentials),
    user: USERS.admin.name,
    token: credentials.tokens.admin,
  });
  return {
    kubeconfig,
    async kill() {
      const pid = supervisor.pid('kube-apiserver');
      if (pid === undefined) throw new Error('the API server does not run');
      process.kill(pid, 'SIGKILL');
      await eventually(() => {
        const successor = supervisor.pid('kube-apiserver');
        if (successor === undefined || successor === pid || supervisor.state('kube-apiserver') !== 'ready')
          throw new Error('the API server does not serve yet');
      });
    },
    stop,
  };
}

async function binary(name: BinaryName): Promise<string> {
  const { path } = await resolveBinary({
    spec: binarySpec(name),
    env: process.env,
  });
  return path;
}
