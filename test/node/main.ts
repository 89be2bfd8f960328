/**
 * `make e2e` installs Parley with Helm on a real node on this machine, and checks what must hold there.
 * node test/node/main.ts [--image build/image] [--keep] [--work <folder>] [--only <part of a check's name>] [--demo]
 * node test/node/main.ts --demo     only the chart parley-demo, which brings the servers itself
 * node test/node/main.ts --kind     prints the commands for kind
 * It needs Linux and root, for namespaces and control groups; apt-get for containerd and runc. It leaves nothing behind: the node's
 * network, mounts and processes are in namespaces of their own.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { cacheFolder } from '../../local-stack/binaries/cache.ts';
import type { BinaryName } from '../../local-stack/programs.ts';
import { type Component, type ComponentEvent, ComponentFailedError, Supervisor } from '../../local-stack/supervisor.ts';
import { testBinary } from '../support/programs.ts';
import { Checks } from './checks.ts';
import { describeCluster } from './cluster.ts';
import { importImage, importPauseImage } from './containerd.ts';
import { runDemo } from './demo.ts';
import { buildDemoImages } from './demo-images.ts';
import { forward } from './forward.ts';
import { IMAGE, ORGANIZATION, prepareNamespace, valuesOf } from './installation.ts';
import { startNames } from './names.ts';
import { kindCommands } from './kind.ts';
import { output } from './output.ts';
import { nodePrograms } from './programs.ts';
import { describeServers } from './servers.ts';
import { runSuite } from './suite.ts';

const { values } = parseArgs({
  options: {
    image: { type: 'string', default: 'build/image' },
    work: { type: 'string' },
    keep: { type: 'boolean', default: false },
    only: { type: 'string' },
    kind: { type: 'boolean', default: false },
    demo: { type: 'boolean', default: false },
    inside: { type: 'boolean', default: false },
  },
});
const root = resolve(import.meta.dirname, '../..');
const names = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kube-proxy',
  'kube-router',
  'kubelet',
  'kubectl',
  'helm',
  'postgres',
  'temporal',
  'redis-server',
  'livekit-server',
] as const satisfies readonly BinaryName[];

/** A check that was asked for by name is one of the installation's. */
const withDemo = values.demo || values.only === undefined;

if (values.kind) process.stdout.write(kindCommands({ tag: 'dev' }));
else if (values.inside) await inside(values.work ?? '');
else process.exitCode = await outside();

/** Gets everything that needs the network, then goes on in namespaces of its own. */
async function outside(): Promise<number> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new Error('a node needs Linux and root: elsewhere use kind: node test/node/main.ts --kind prints the commands');
  const archive = join(resolve(root, values.image), 'parley.tar');
  if (!existsSync(archive)) throw new Error(`${archive} is missing: run make image`);
  const work = values.work ?? join(tmpdir(), `parley-node-${process.pid}`);
  mkdirSync(work, { recursive: true, mode: 0o755 });
  const programs = await nodePrograms(cacheFolder(process.env));
  for (const name of names) await testBinary(name);
  if (withDemo) {
    await testBinary('chromium');
    await buildDemoImages({
      folder: join(work, 'demo-images'),
      image: resolve(root, values.image),
      umoci: join(programs, 'usr/bin/umoci'),
      binary: testBinary,
    });
  }
  const script = 'set -e; "$1" "$2" "$3"; shift 3; exec "$@"';
  const child = spawn(
    'unshare',
    [
      '--mount',
      '--net',
      '--pid',
      '--fork',
      '--mount-proc',
      '--kill-child=SIGTERM',
      'sh',
      '-c',
      script,
      'sh',
      join(import.meta.dirname, 'namespace.sh'),
      programs,
      work,
      process.execPath,
      ...process.argv.slice(1),
      '--inside',
      '--work',
      work,
    ],
    { stdio: 'inherit' },
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopInside(child.pid));
  const code = await new Promise<number>((done) => child.on('exit', (status, signal) => done(status ?? (signal === null ? 1 : 128))));
  removeControlGroups();
  if (!values.keep && code === 0) rmSync(work, { recursive: true, force: true });
  else process.stdout.write(`logs and state are in ${work}\n`);
  return code;
}

/** Stops the child, because unshare itself waits for it and passes no signal on. */
function stopInside(pid: number | undefined): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  for (const child of children) if (child !== '') process.kill(Number(child), 'SIGTERM');
}

async function inside(work: string): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  const stopped = new Promise<number>((done) => stop.signal.addEventListener('abort', () => done(1)));
  const binaries = new Map<BinaryName, string>();
  for (const name of names) binaries.set(name, await testBinary(name));
  const binary = (name: BinaryName): string => binaries.get(name) ?? name;
  // The command is the image's: a person has it next to the cluster, and it is quick to start.
  const parley = [process.execPath, join(resolve(root, values.image), 'layers/app/opt/parley/dist/parley.mjs')] as const;
  const cluster = describeCluster({ work, binary, organization: ORGANIZATION });
  const { components, servers, loopback } = describeServers({ work, binary, parley, kubeconfig: cluster.memberKubeconfig });
  // Of what a part depends on, the rest runs by then.
  const supervise = (parts: readonly Component[]): Supervisor =>
    new Supervisor({
      components: parts.map((part) => ({
        ...part,
        dependsOn: part.dependsOn.filter((name) => parts.some((other) => other.name === name)),
      })),
      logDir: join(work, '.parley/logs'),
      runDir: join(work, '.parley/run'),
      onEvent: (event) => report(event),
    });
  const node = supervise(cluster.components);
  // Not beside the demo: kubectl port-forward takes the ports of its servers.
  const outsideServers = supervise(components);
  try {
    await node.start();
    await importPauseImage({ socket: cluster.containerdSocket, work });
    await importImage({ socket: cluster.containerdSocket, archive: join(resolve(root, values.image), 'parley.tar'), name: IMAGE });
    const kubectl = [binary('kubectl'), '--kubeconfig', cluster.kubeconfig] as const;
    const { tag } = JSON.parse(readFileSync(join(resolve(root, values.image), 'image.json'), 'utf8')) as { tag: string };
    await startNames({ kubectl, tag });
    await output([...kubectl, 'wait', 'node', '--all', '--for=condition=Ready', '--timeout=120s']);
    if (values.keep) {
      process.stdout.write(
        `the node is ready; KUBECONFIG=${cluster.kubeconfig}; enter it with: nsenter --target <pid> --mount --net --pid\n`,
      );
    }
    const checks = new Checks(values.only);
    const { memberKubeconfig: kubeconfig, containerdSocket } = cluster;
    const shared = { kubectl, helm: binary('helm'), kubeconfig, work, parley, root, tag, checks };
    const demo = async (): Promise<void> => {
      if (withDemo) await runDemo({ ...shared, containerdSocket });
    };
    const installation = async (): Promise<void> => {
      if (values.demo) return;
      await outsideServers.start();
      for (const address of loopback) await forward(address);
      await prepareNamespace({ kubectl, servers, work });
      const valuesFile = join(work, 'values.yaml');
      writeFileSync(valuesFile, JSON.stringify(valuesOf(servers, tag)));
      await runSuite({ ...shared, chart: join(root, 'charts/parley'), valuesFile, servers });
    };
    const suites = async (): Promise<number> => {
      await demo();
      await installation();
      return checks.finish();
    };
    const failed = await Promise.race([suites(), stopped]);
    if (values.keep && !stop.signal.aborted) await new Promise((done) => stop.signal.addEventListener('abort', done));
    process.exitCode = failed > 0 ? 1 : 0;
  } catch (error) {
    if (error instanceof ComponentFailedError) process.stderr.write(`${error.logTail.join('\n')}\n`);
    throw error;
  } finally {
    await outsideServers.stop();
    await node.stop();
  }
  // With the first process of the namespace go all others: pods, and what a suite that was cut off still waits for.
  process.exit();
}

function report({ component, state, elapsedMs, reason }: ComponentEvent): void {
  if (state === 'ready' || state === 'failed')
    process.stdout.write(`${(elapsedMs / 1000).toFixed(1).padStart(6)} s  ${component} ${state} ${reason ?? ''}\n`);
}

/** Removes the pods' groups, which outlive their processes; groups that are gone already are no failure. */
function removeControlGroups(): void {
  const remove = (folder: string): void => {
    try {
      for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) remove(join(folder, entry.name));
      rmdirSync(folder);
    } catch {
      // The group is still in use, or was never made: the next run takes it as it is.
    }
  };
  for (const hierarchy of ['', ...readdirSync('/sys/fs/cgroup')]) remove(join('/sys/fs/cgroup', hierarchy, 'parley-node'));
}
