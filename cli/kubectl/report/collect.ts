/** Reads everything that a support bundle has. What may not be read is missing in it, and said. */
import { kinds, wellKnown, type KindDefinition } from '../../../crds/index.ts';
import { KubeError, type KubeObject, type Stored } from '../../../kube/index.ts';
import { checkCluster } from '../../doctor/cluster.ts';
import { describeFinding, type Finding } from '../../doctor/finding.ts';
import { version as clientVersion } from '../../../platform/version.ts';
import type { ClusterConnection } from '../connection.ts';
import { builtIn } from '../../descriptors.ts';
import { reportEvent, type Event, type EventReport } from '../explain/surroundings.ts';
import { installed, installedPods, labels, roleOf, type Pod } from '../installation.ts';
import type { Io } from '../io.ts';
import { localSources, podSource, type LogSource } from '../logs/sources.ts';
import { Reader } from '../reader.ts';
import { gatherStatus } from '../status/gather.ts';
import { printStatus } from '../status/print.ts';
import { styleOf } from '../style.ts';
import { Files } from './files.ts';
import { lastLines, maskLine, readinessOf } from './logs.ts';
import { maskMetadata, maskObject, maskTree } from './objects.ts';
import type { Redactor } from './redactor.ts';
import { maskResource } from './resources.ts';

export interface ReportOptions {
  readonly leaseNamespace: string;
  readonly kubeconfig: string | undefined;
  readonly withPrompts: boolean;
  /** Of each pod; 0: no logs. */
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

async function addStatus({ connection, files, redactor, io, ...options }: Context): Promise<void> {
  const now = io.now();
  const report = await gatherStatus(connection, { ...options, now });
  for (const note of report.notes) files.problem(note);
  const plain = styleOf({ out: { write: () => true }, env: {} });
  files.text('status.txt', '`kubectl parley status`', redactor.text(printStatus(report, { wide: true, now, style: plain })));
  files.json('status.json', 'the same for programs', maskTree(report, redactor));
}

async function addVersions({ connection, files, redactor }: Context): Promise<void> {
  const { transport, context, kubeConfig } = connection;
  const server = await transport.request<unknown>({ method: 'GET', path: '/version' });
  files.json('versions.json', 'versions of the plugin, of Node.js and of the cluster', {
    plugin: clientVersion,
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    context,
    contexts: kubeConfig.getContexts().length,
    apiServer: redactor.text(transport.server),
    cluster: server,
  });
}

async function addDoctor({ connection, files, redactor, leaseNamespace }: Context): Promise<void> {
  const findings: Finding[] = [];
  for await (const finding of checkCluster({
    audience: 'installer',
    leaseNamespace,
    onClock: () => undefined,
    transport: connection.transport,
  }))
    findings.push(finding);
  files.text(
    'doctor.txt',
    "the checks of `parley doctor` on the cluster, with this account's permissions",
    redactor.text(findings.map(describeFinding).join('')),
  );
}

async function addResources({ connection, reader, files, redactor, withPrompts }: Context): Promise<void> {
  const namespace = await scopeOf(connection, reader);
  const namespaces = await reader.list<KubeObject>(builtIn.namespaces, {
    labelSelector: `${wellKnown.organizationLabel}=true`,
    metadataOnly: true,
  });
  const shown = (namespaces ?? []).filter(({ metadata }) => namespace === undefined || metadata.name === namespace);
  keepNames(redactor, shown);
  redactor.keep(connection.namespace);
  await files.yaml(
    'organisations.yaml',
    'namespaces that are organisations',
    shown.map((object) => ({ metadata: maskMetadata(object.metadata, redactor) })),
  );
  const definitions = await reader.list<KubeObject & { readonly spec: object; readonly status?: object }>(builtIn.definitions);
  await files.yaml(
    'definitions.yaml',
    'resource definitions (CRDs) of parley.dev: versions and conditions',
    (definitions ?? [])
      .filter(({ metadata }) => metadata.name.endsWith('.parley.dev'))
      .map((definition) => summaryOf(definition, redactor)),
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
    await addEvents(descriptor.kind, namespace, { reader, files, redactor });
  }
}

async function addEvents(
  kind: string,
  namespace: string | undefined,
  { reader, files, redactor }: Pick<Context, 'reader' | 'files' | 'redactor'>,
): Promise<void> {
  const events = (await reader.list<Event>(builtIn.events, { namespace, fieldSelector: `regarding.kind=${kind}` })) ?? [];
  for (const [each, theirs] of Map.groupBy(events, ({ metadata }) => metadata.namespace ?? '')) {
    const reports = reportsOf(theirs);
    files.json(`events/${each}/${kind.toLowerCase()}.json`, `${reports.length} events`, maskTree(reports, redactor));
  }
}

interface ListedEvent extends EventReport {
  readonly object: string;
}

function reportsOf(events: readonly Event[]): readonly ListedEvent[] {
  return events
    .map((event) => {
      const { kind = '', name = '' } = event.regarding ?? {};
      return { object: `${kind} ${name}`, ...reportEvent(event) };
    })
    .sort((a, b) => a.time.localeCompare(b.time));
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
  for (const home of homes) {
    const events = (await reader.list<Event>(builtIn.events, { namespace: home })) ?? [];
    const reports = reportsOf(events);
    if (reports.length > 0)
      files.json(
        `events/${home}/installation.json`,
        `${reports.length} events of the installation's namespace`,
        maskTree(reports, redactor),
      );
  }
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

/** By the labels of the Secrets in which Helm keeps its releases. Their contents, which hold all values, never come here. */
async function addReleases({ connection, reader, files, redactor }: Context): Promise<void> {
  const deployments = (await installed<KubeObject>(reader, builtIn.deployments, connection)) ?? [];
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

/** `undefined`: all namespaces. Who may not look everywhere, or has named one, gets that one. */
async function scopeOf({ allNamespaces, namespaceNamed, namespace }: ClusterConnection, reader: Reader): Promise<string | undefined> {
  if (namespaceNamed && !allNamespaces) return namespace;
  const [first] = kinds;
  return (await reader.list(first.descriptor)) === undefined ? namespace : undefined;
}

function keepNames(redactor: Redactor, objects: readonly KubeObject[]): void {
  for (const { metadata } of objects) redactor.keep(metadata.name, metadata.namespace ?? '', metadata.uid ?? '');
}

function summaryOf(definition: KubeObject & { readonly spec: object; readonly status?: object }, redactor: Redactor): object {
  const { versions = [] } = definition.spec as {
    readonly versions?: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[];
  };
  const { conditions, storedVersions } = (definition.status ?? {}) as { readonly conditions?: unknown; readonly storedVersions?: unknown };
  return {
    metadata: maskMetadata(definition.metadata, redactor),
    versions: versions.map(({ name, served, storage }) => ({ name, served, storage })),
    storedVersions,
    conditions: maskTree(conditions, redactor),
  };
}

function isoOf(seconds: string | undefined): string | undefined {
  return seconds !== undefined && /^\d+$/.test(seconds) ? new Date(Number(seconds) * 1000).toISOString() : undefined;
}
