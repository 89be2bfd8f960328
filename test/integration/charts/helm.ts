/** Runs Helm on the chart of this checkout, offline, and reads what comes out. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { parse, stringify } from 'yaml';

import type { KubeObject } from '../../../kube/index.ts';
import { repositoryRoot } from '../../../local-stack/repository.ts';
import { testBinary } from '../../support/programs.ts';

export const chart = join(repositoryRoot(), 'charts/parley');
export const RELEASE = 'parley';
export const NAMESPACE = 'parley-system';

type Fields = Readonly<Record<string, unknown>>;

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: Fields }[];
  readonly envFrom?: readonly Fields[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext?: Fields;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly lifecycle?: Fields;
  readonly resources?: Fields;
}

export interface PodTemplate {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>>; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Fields & {
    readonly containers: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly volumes?: readonly (Fields & { readonly name: string })[];
    readonly terminationGracePeriodSeconds?: number;
    readonly serviceAccountName?: string;
    readonly automountServiceAccountToken?: boolean;
    readonly securityContext?: Fields;
  };
}

export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: KubeObject['metadata'];
  // Tests look freely into the fields of a kind.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [field: string]: any;
}

/** The chart installs with no fewer values. */
export const needed = {
  crds: { enabled: false },
  secrets: {
    DATABASE_URL: { name: 'parley-database', key: 'url' },
    LIVEKIT_API_KEY: { name: 'parley-livekit', key: 'key' },
    LIVEKIT_API_SECRET: { name: 'parley-livekit', key: 'secret' },
  },
  config: {
    TEMPORAL_ADDRESS: 'temporal-frontend.temporal:7233',
    LIVEKIT_URL: 'wss://livekit.example.com',
    STORAGE_URL: 's3://bucket/parley',
  },
} as const;

/** Runs Helm. Rejects with what it wrote to its standard error. */
export async function helm(
  args: readonly string[],
  options: { readonly values?: object; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const [program, folder] = await Promise.all([testBinary('helm'), mkdtemp(join(tmpdir(), 'parley-chart-'))]);
  try {
    const file = join(folder, 'values.yaml');
    // Helm reads YAML 1.1, where `yes` is no text.
    await writeFile(file, stringify(options.values ?? {}, { version: '1.1' }));
    // The environment has nothing of the person who runs the tests: no repositories, plugins or kubeconfig.
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      HELM_CACHE_HOME: folder,
      HELM_CONFIG_HOME: folder,
      HELM_DATA_HOME: folder,
      ...options.env,
    };
    return await new Promise((resolve, reject) => {
      execFile(
        program,
        [...args, ...(options.values === undefined ? [] : ['--values', file])],
        { env, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => (error === null ? resolve(stdout) : reject(new Error(stderr || stdout, { cause: error }))),
      );
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Renders all objects of an installation with these values, hooks included. */
export async function render(
  values: object,
  options: {
    readonly release?: string;
    readonly namespace?: string;
    /** API versions of the cluster beyond Kubernetes' own. */
    readonly apiVersions?: readonly string[];
  } = {},
): Promise<readonly Rendered[]> {
  const { release = RELEASE, namespace = NAMESPACE, apiVersions = [] } = options;
  const apis = apiVersions.map((version) => `--api-versions=${version}`);
  const text = await helm(['template', release, chart, '--namespace', namespace, '--kube-version', '1.34.4', ...apis], { values });
  return parseManifests(text);
}

/** Rendered objects by their text, because most are the same whatever the values are. */
const parsed = new Map<string, Rendered | null>();

export function parseManifests(text: string): readonly Rendered[] {
  return text.split(/^---$/m).flatMap((document) => {
    if (!parsed.has(document)) parsed.set(document, parse(document) as Rendered | null);
    return structuredClone(parsed.get(document)) ?? [];
  });
}

/** Lays values over the default of the chart's tests, map by map. */
export function withValues(...layers: readonly object[]): Record<string, unknown> {
  return layers.reduce<Record<string, unknown>>(
    (all, layer) => lay(all, layer as Record<string, unknown>),
    structuredClone(needed) as never,
  );
}

/** Lays one map over another, deep; lists are replaced. */
export function lay(under: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const result = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const before = result[key];
    result[key] = isMap(before) && isMap(value) ? lay(before, value) : value;
  }
  return result;
}

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

export function find(manifests: readonly Rendered[], kind: string, name: string): Rendered {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (found === undefined) {
    throw new Error(
      `there is no ${kind} ${name}, but ${
        manifests
          .filter((one) => one.kind === kind)
          .map(({ metadata }) => metadata.name)
          .join(', ') || 'none'
      }`,
    );
  }
  return found;
}

export const ofKind = (manifests: readonly Rendered[], kind: string): readonly Rendered[] =>
  manifests.filter((manifest) => manifest.kind === kind);

export const roles = ['operator', 'api', 'worker', 'dispatcher', 'voice'] as const;

/** Finds the pods that these manifests make: of Deployments, of Jobs, and the pod of `helm test`. */
export function podsOf(manifests: readonly Rendered[]): readonly { readonly name: string; readonly template: PodTemplate }[] {
  return manifests.flatMap((manifest): { readonly name: string; readonly template: PodTemplate }[] => {
    const name = `${manifest.kind}/${manifest.metadata.name}`;
    if (manifest.kind === 'Pod') return [{ name, template: manifest as unknown as PodTemplate }];
    const template = manifest['spec']?.template as PodTemplate | undefined;
    return ['Deployment', 'Job'].includes(manifest.kind) && template !== undefined ? [{ name, template }] : [];
  });
}

export function containerOf(manifests: readonly Rendered[], role: string): Container {
  const [container] = (find(manifests, 'Deployment', `${RELEASE}-${role}`)['spec'].template as PodTemplate).spec.containers;
  if (container === undefined) throw new Error(`${role} has no container`);
  return container;
}

export function envOf(container: Container): Readonly<Record<string, unknown>> {
  return Object.fromEntries((container.env ?? []).map(({ name, value, valueFrom }) => [name, value ?? valueFrom]));
}
