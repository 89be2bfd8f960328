/** Reads everything that a support bundle has. It says what is missing because it may not be read. */
import { kinds, type KindDefinition } from '../../../crds/index.ts';
import { KubeError, type KubeObject, type Stored, type Transport } from '../../../kube/index.ts';
import { checkCluster } from '../../doctor/cluster.ts';
import { describeFinding, type Finding } from '../../doctor/finding.ts';
import { version as clientVersion } from '../../../platform/version.ts';
import type { ClusterConnection } from '../connection.ts';
import type { Definition } from '../../cluster/definitions.ts';
import { builtIn } from '../../cluster/descriptors.ts';
import { readEvents } from '../../cluster/events.ts';
import { installed, installedDeployments, installedPods, labels, roleOf, type Pod } from '../../cluster/installation.ts';
import { listOrganizations, seesAllNamespaces } from '../../cluster/organizations.ts';
import { Reader } from '../../cluster/reader.ts';
import type { Io } from '../io.ts';
import { localSources, podSource, type LogSource } from '../logs/sources.ts';
import { gatherStatus } from '../status/gather.ts';
import { printStatus } from '../status/print.ts';
import { styleOf } from '../style.ts';
import { Files } from './files.ts';
import { maskMetadata, maskObject, maskTree } from './objects.ts';
import type { Redactor } from './redactor.ts';
import { maskResource } from './resources.ts';
import { parseLine } from '../logs/line.ts';

export interface ReportOptions {
  readonly kubeconfig: string | undefined;
  readonly withPrompts: boolean;
  /** Lines of each pod; 0 for no logs. */
  readonly logLines: number;
  readonly progress: (what: string) => void;
}

interface Context extends ReportOptions {
  readonly connection: ClusterConnection;
  readonly io: Io;
  readonly reader: Reader;
  readonly redactor: Redactor;
  readonly files: Files;
}

export async function collectReport(connection: ClusterConnection, io: Io, redactor: Redactor, options: ReportOptions): Promise<Files> {
  const reader = new Reader(connection.transport);
  const files = new Files();
  // A user who can't reach the cluster gets no empty report, but the reason.
  await reader.version();
  const context: Context = { ...options, connection, io, reader, redactor, files };
  const steps: readonly (readonly [string, (context: Context) => Promise<void>])[] = [
    ['status', addStatus],
    ['versions', addVersions],
    ['checks of parley doctor', addDoctor],
    ['organisations and resources', addResources],
    ['installation', addInstallation],
    ['releases of Helm', addReleases],
    ['logs', addLogs],
  ];
  for (const [what, step] of steps) {
    options.progress(what);
    try {
      await step(context);
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      io.signal.throwIfAborted();
      files.problem(`${what}: ${error.message}`);
    }
  }
  for (const note of reader.notes) files.problem(note);
  return files;
}

async function addStatus({ connection, reader, files, redactor, io }: Context): Promise<void> {
  const now = io.now();
  const report = await gatherStatus(reader, connection, now);
  const plain = styleOf({ out: { write: () => true }, env: {} });
  files.text('status.txt', '`kubectl parley status`', redactor.text(printStatus(report, { wide: true, now, style: plain })));
  files.json('status.json', 'the same for programs', maskTree(report, redactor));
}

async function addVersions({ connection: { context, kubeConfig }, reader, files, redactor }: Context): Promise<void> {
  files.json('versions.json', 'versions of the plugin, of Node.js and of the cluster', {
    plugin: clientVersion,
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    context,
    contexts: kubeConfig.getContexts().length,
    apiServer: redactor.text(reader.transport.server),
    cluster: await reader.version(),
  });
}

async function addDoctor({ connection: { leaseNamespace }, reader, files, redactor }: Context): Promise<void> {
  const findings: Finding[] = [];
  for await (const finding of checkCluster(reader, { audience: 'installer', leaseNamespace })) findings.push(finding);
  files.text(
    'doctor.txt',
    "the checks of `parley doctor` on the cluster, with this account's permissions",
    redactor.text(findings.map(describeFinding).join('')),
  );
}

async function addResources(context: Context): Promise<void> {
  const { connection, reader, files, redactor, withPrompts } = context;
  const namespace = await namespaceToReport(connection, reader);
  const shown = ((await listOrganizations(reader)) ?? []).filter(({ metadata }) => namespace === undefined || metadata.name === namespace);
  keepNames(redactor, shown);
  redactor.keep(connection.namespace);
  await files.yaml(
    'organisations.yaml',
    'namespaces that are organisations',
    shown.map((object) => ({ metadata: maskMetadata(object.metadata, redactor) })),
  );
  const definitions = await reader.list<Definition>(builtIn.definitions);
  await files.yaml(
    'definitions.yaml',
    'resource definitions (CRDs) of parley.dev: versions and conditions',
    (definitions ?? [])
      .filter(({ metadata }) => metadata.name.endsWith('.parley.dev'))
      .map((definition) => describeDefinition(definition, redactor)),
  );
  for (const { descriptor } of kinds as readonly KindDefinition[]) {
    const objects = (await reader.list<KubeObject>(descriptor, { namespace })) ?? [];
    keepNames(redactor, objects);
    for (const [each, theirs] of Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? '')) {
      await files.yaml(
        `resources/${each}/${descriptor.plural}.yaml`,
        `${theirs.length} ${descriptor.plural} with their conditions${withPrompts ? ', prompts included' : ''}`,
        theirs.map((object) => maskResource(object, { redactor, withPrompts })),
      );
    }
    const { kind } = descriptor;
    await addEvents(context, kind.toLowerCase(), { namespace, fieldSelector: `regarding.kind=${kind}` });
  }
}

async function addEvents(
  { reader, files, redactor }: Context,
  name: string,
  filter: { readonly namespace: string | undefined; readonly fieldSelector?: string },
): Promise<void> {
  const events = (await readEvents(reader, filter)) ?? [];
  for (const [namespace, theirs] of Map.groupBy(events, (event) => event.namespace)) {
    const reports = theirs.map(({ object, report }) => Object.assign({ object }, report));
    files.json(`events/${namespace}/${name}.json`, `${reports.length} events`, maskTree(reports, redactor));
  }
}

async function addInstallation(context: Context): Promise<void> {
  const { reader, files, redactor, connection } = context;
  const parts: readonly (readonly [keyof typeof builtIn, string])[] = [
    ['deployments', 'Deployments'],
    ['pods', 'pods'],
    ['autoscalers', 'autoscalers'],
    ['jobs', 'Jobs'],
    ['disruptionBudgets', 'disruption budgets'],
    ['services', 'Services'],
  ];
  const homes = new Set<string>();
  for (const [name, about] of parts) {
    const objects = (await installed<KubeObject>(reader, builtIn[name], connection)) ?? [];
    keepNames(redactor, objects);
    for (const { metadata } of objects) homes.add(metadata.namespace ?? '');
    await files.yaml(
      `installation/${name}.yaml`,
      `${objects.length} ${about} of the installation; values of variables masked, but for settings that are no secrets`,
      objects.map((object) => maskObject(object, redactor)),
    );
  }
  for (const home of homes) await addEvents(context, 'installation', { namespace: home });
  const pods = (await installedPods(reader, connection)) ?? [];
  const asked = pods.flatMap((pod) => {
    const port = pod.spec.containers.find(({ name }) => name === roleOf(pod))?.ports?.find(({ name }) => name === 'http')?.containerPort;
    return port === undefined ? [] : [{ namespace: pod.metadata.namespace ?? '', name: pod.metadata.name, port }];
  });
  const readiness = await Promise.all(asked.map(async (pod) => [pod.name, await readinessOf(connection.transport, pod)] as const));
  if (readiness.length > 0)
    files.json(
      'installation/readiness.json',
      'what the roles say of their readiness, Postgres and Temporal included',
      maskTree(Object.fromEntries(readiness), redactor),
    );
}

/** Lists Helm's releases by the labels of the Secrets in which it keeps them. Their contents, which hold all values, never come here. */
async function addReleases({ connection, reader, files, redactor }: Context): Promise<void> {
  const deployments = (await installedDeployments(reader, connection)) ?? [];
  const releases = new Set(deployments.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.labels?.[labels.instance] ?? ''}`));
  const summaries: object[] = [];
  for (const release of releases) {
    const [namespace = '', name = ''] = release.split('/');
    const secrets = await reader.list<KubeObject>(builtIn.secrets, {
      namespace,
      labelSelector: `owner=helm,name=${name}`,
      metadataOnly: true,
    });
    const first = deployments.find(({ metadata }) => metadata.namespace === namespace && metadata.labels?.[labels.instance] === name);
    summaries.push({
      namespace,
      name,
      chart: first?.metadata.labels?.[labels.chart],
      appVersion: first?.metadata.labels?.[labels.version],
      revisions: secrets
        ?.map(({ metadata }) => ({
          revision: Number(metadata.labels?.['version']),
          status: metadata.labels?.['status'],
          modifiedAt: isoOf(metadata.labels?.['modifiedAt']),
          createdAt: metadata.creationTimestamp,
        }))
        .sort((a, b) => a.revision - b.revision),
    });
  }
  if (summaries.length > 0)
    files.json('installation/helm.json', 'releases of Helm: revisions and their state, no values', maskTree(summaries, redactor));
}

async function addLogs({ connection, reader, files, redactor, kubeconfig, logLines, io, progress }: Context): Promise<void> {
  if (logLines === 0) return;
  const pods = (await installedPods(reader, connection)) ?? [];
  const sources: readonly LogSource[] = pods.flatMap((pod: Stored<Pod>) => podSource(connection.transport, pod) ?? []);
  const local = sources.length > 0 ? undefined : localSources({ server: connection.transport.server, kubeconfig, folder: io.folder });
  for (const source of local ?? sources) {
    progress(`the log of ${source.name}`);
    for (const previous of source.restarted ? [true, false] : [false]) {
      try {
        const lines = await lastLines(source, { count: logLines, signal: io.signal, previous });
        if (lines.length === 0) continue;
        const path = `logs/${source.name}${previous ? '.before-restart' : ''}.log`;
        files.text(path, `the last ${lines.length} lines`, `${lines.map((line) => maskLine(line, redactor)).join('\n')}\n`);
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        io.signal.throwIfAborted();
        if (!previous) files.problem(`the log of ${source.name}: ${error.message}`);
      }
    }
  }
}

/** Returns `undefined` for all namespaces. A user who may not look everywhere, or has named a namespace, gets that one. */
async function namespaceToReport(
  { allNamespaces, namespaceNamed, namespace }: ClusterConnection,
  reader: Reader,
): Promise<string | undefined> {
  if (namespaceNamed && !allNamespaces) return namespace;
  return (await seesAllNamespaces(reader)) ? undefined : namespace;
}

function keepNames(redactor: Redactor, objects: readonly KubeObject[]): void {
  for (const { metadata } of objects) redactor.keep(metadata.name, metadata.namespace ?? '', metadata.uid ?? '');
}

function describeDefinition({ metadata, spec, status: { conditions, storedVersions } = {} }: Definition, redactor: Redactor): object {
  return {
    metadata: maskMetadata(metadata, redactor),
    versions: spec.versions.map(({ name, served, storage }) => ({ name, served, storage })),
    storedVersions,
    conditions: maskTree(conditions, redactor),
  };
}

function isoOf(seconds: string | undefined): string | undefined {
  return seconds !== undefined && /^\d+$/.test(seconds) ? new Date(Number(seconds) * 1000).toISOString() : undefined;
}

/** Longest line that is kept, in characters; longer ones are cut. */
const MAX_LINE = 16_384;

/** @throws KubeError when the log can't be read */
async function lastLines(
  source: LogSource,
  options: { readonly count: number; readonly signal: AbortSignal; readonly previous?: boolean },
): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of source.read({
    follow: false,
    signal: options.signal,
    tail: options.count,
    previous: options.previous === true,
  })) {
    lines.push(line);
    // A file gives more than the last lines.
    if (lines.length > options.count * 2) lines.splice(0, lines.length - options.count);
  }
  return lines.slice(-options.count);
}

function maskLine(raw: string, redactor: Redactor): string {
  const line = parseLine(raw, { source: '', role: '' });
  if (line !== undefined) return JSON.stringify(maskTree(line.fields, redactor)).slice(0, MAX_LINE);
  return redactor.text(raw.slice(0, MAX_LINE));
}

/** Returns what a role says of its readiness, through the API server; and why that is not known where it isn't. */
async function readinessOf(
  transport: Transport,
  pod: { readonly namespace: string; readonly name: string; readonly port: number },
): Promise<string> {
  const path = `/api/v1/namespaces/${pod.namespace}/pods/http:${pod.name}:${pod.port}/proxy/readyz`;
  try {
    // The answer is `ok`, or JSON with what is missing.
    const { body } = await transport.stream({ method: 'GET', path, accept: '*/*', timeoutMs: 5_000 });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString().trim().slice(0, MAX_LINE);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return error.body ?? `not known: ${error.message}`;
  }
}
