/** Gives a test a namespace of its own on the shared API server, and the few requests that tests of the schemas need. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { customResourceDefinitions, type StructuralSchema } from '../../../crds/generate.ts';
import { kinds } from '../../../crds/index.ts';
import { createTransport, KubeError, loadKubeConfig } from '../../../kube/index.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { organizationNamespace } from '../../support/namespace.ts';

export type ManifestFields = Readonly<Record<string, unknown>>;

export interface StoredManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly resourceVersion?: string; readonly generation?: number };
  readonly spec?: ManifestFields;
  readonly status?: ManifestFields;
}

export const manifestOf = (kind: string, name: string, spec: ManifestFields): StoredManifest => ({
  apiVersion: 'parley.dev/v1beta1',
  kind,
  metadata: { name },
  spec,
});

/** Returns the smallest spec, with some fields more. */
export const agent = (fields: ManifestFields = {}): ManifestFields => ({
  llm: { model: 'm' },
  speechToText: { provider: 'deepgram' },
  textToSpeech: { provider: 'elevenlabs' },
  ...fields,
});
export const custom = (http: ManifestFields = {}): ManifestFields => ({
  type: 'Custom',
  custom: { function: { name: 'f' }, http: { url: 'https://example.com', ...http } },
});
export const webhook = (fields: ManifestFields = {}): ManifestFields => ({ url: 'https://example.com', ...fields });

/** Causes of a refusal, as the server gives them: `field: message`, sorted. */
type Refusal = readonly string[];

export interface SchemaCluster {
  readonly namespace: string;
  readonly kubeconfig: string;
  /** Runs kubectl in the namespace; throws with its standard error. */
  kubectl(args: readonly string[]): Promise<string>;
  apply(
    manifest: StoredManifest,
    options?: { readonly subresource?: 'status'; readonly manager?: string; readonly dryRun?: boolean },
  ): Promise<StoredManifest>;
  /** Answers why the object was refused. Throws when it wasn't. */
  refusal(manifest: StoredManifest): Promise<Refusal>;
  /** Creates or updates the object as `kubectl create` and `kubectl replace` do, without keeping it. Answers as {@link refusal}, or nothing. */
  answer(manifest: StoredManifest, options: { readonly update: boolean }): Promise<Refusal>;
  get(kind: string, name: string): Promise<StoredManifest>;
  list(kind: string, query: Readonly<Record<string, string>>): Promise<readonly StoredManifest[]>;
  close(): Promise<void>;
}

const run = promisify(execFile);

export async function openCluster(prefix: string): Promise<SchemaCluster> {
  const { kubeconfig, kubectl } = await controlPlane();
  const namespace = await organizationNamespace(prefix);
  const transport = createTransport({ kubeConfig: loadKubeConfig({ path: kubeconfig }) });
  const pathOf = (kind: string) => `/apis/parley.dev/v1beta1/namespaces/${namespace}/${pluralOf(kind)}`;
  const apply: SchemaCluster['apply'] = ({ kind, ...manifest }, { subresource, manager = 'schema-test', dryRun = false } = {}) =>
    transport.request<StoredManifest>({
      method: 'PATCH',
      path: `${pathOf(kind)}/${encodeURIComponent(manifest.metadata.name)}${subresource === undefined ? '' : `/${subresource}`}`,
      query: { fieldManager: manager, force: true, ...(dryRun ? { dryRun: 'All' } : {}) },
      contentType: 'application/apply-patch+yaml',
      body: { ...manifest, kind },
    });
  const cluster: SchemaCluster = {
    namespace,
    kubeconfig,
    apply,
    async kubectl(args) {
      const { stdout } = await run(kubectl, [`--kubeconfig=${kubeconfig}`, `--namespace=${namespace}`, ...args], {
        maxBuffer: 64 * 1024 * 1024,
      });
      return stdout;
    },
    async refusal(manifest) {
      try {
        await apply(manifest, { dryRun: true });
      } catch (error) {
        if (error instanceof KubeError) return error.causes.map((cause) => `${cause.field}: ${cause.message}`).toSorted();
        throw error;
      }
      throw new Error(`${manifest.kind} ${JSON.stringify(manifest.spec)} was accepted`);
    },
    async answer(manifest, { update }) {
      const { kind, metadata } = manifest;
      const { name } = metadata;
      const stored = update ? await cluster.get(kind, name) : undefined;
      try {
        await transport.request({
          method: update ? 'PUT' : 'POST',
          path: update ? `${pathOf(kind)}/${name}` : pathOf(kind),
          query: { dryRun: 'All', fieldValidation: 'Strict' },
          body: { ...manifest, metadata: { name, resourceVersion: stored?.metadata.resourceVersion } },
        });
        return [];
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        // An unknown field has no cause of its own.
        return error.causes.length > 0 ? error.causes.map((cause) => `${cause.field}: ${cause.message}`) : [error.message];
      }
    },
    get: (kind, name) => transport.request<StoredManifest>({ method: 'GET', path: `${pathOf(kind)}/${name}` }),
    async list(kind, query) {
      return (await transport.request<{ readonly items: readonly StoredManifest[] }>({ method: 'GET', path: pathOf(kind), query })).items;
    },
    close: () => transport.close(),
  };
  // The server lists a category a moment after the definitions are established.
  await eventually(() => cluster.kubectl(['get', 'parley']));
  return cluster;
}

export function pluralOf(kind: string): string {
  const definition = kinds.find(({ descriptor }) => descriptor.kind === kind);
  if (definition === undefined) throw new Error(`there is no kind ${kind}`);
  return definition.descriptor.plural;
}

export interface SchemaNode {
  /** Path such as `Agent.spec.dynamicData[].url`: `[]` is an item of a list, `{}` a value of a map. */
  readonly path: string;
  readonly schema: StructuralSchema;
}

/** Returns every node of spec and status of every kind. */
export function schemaNodes(): readonly SchemaNode[] {
  return customResourceDefinitions().flatMap((crd) => {
    const { properties } = crd.spec.versions[0]?.schema.openAPIV3Schema ?? {};
    return ['spec', 'status'].flatMap((part) => Array.from(walk(properties?.[part] ?? {}, `${crd.spec.names.kind}.${part}`)));
  });
}

function* walk(schema: StructuralSchema, path: string): Generator<SchemaNode> {
  yield { path, schema };
  for (const [name, child] of Object.entries(schema.properties ?? {})) yield* walk(child, `${path}.${name}`);
  if (schema.items !== undefined) yield* walk(schema.items, `${path}[]`);
  if (schema.additionalProperties !== undefined) yield* walk(schema.additionalProperties, `${path}{}`);
}
