/** The kinds at a real API server: in one version, in both, and when what is stored has been migrated. */
import { randomBytes } from 'node:crypto';

import type { StructuralSchema } from '../../../crds/generate.ts';
import type { KubeRequest, Transport } from '../../../kube/index.ts';
import { eventually } from '../../support/eventually.ts';
import { forEachOf } from '../harness/rounds.ts';
import type { ConvertedObject } from './changes.ts';
import { type ChangedKind, GROUP, NEW, OLD } from './kinds.ts';
import type { ConversionWebhook } from './webhook.ts';

type Version = typeof OLD | typeof NEW;

/** Stage of a definition on its way to v1. */
interface Stage {
  readonly served: readonly Version[];
  readonly stored: Version;
  readonly converted: boolean;
}

const BEFORE: Stage = { served: [OLD], stored: OLD, converted: false };
const BOTH: Stage = { served: [OLD, NEW], stored: OLD, converted: true };
const MIGRATING: Stage = { served: [OLD, NEW], stored: NEW, converted: true };
const AFTER: Stage = { served: [NEW], stored: NEW, converted: false };

const IN_FLIGHT = 8;

export interface ManagedObject extends ConvertedObject {
  readonly metadata: ConvertedObject['metadata'] & {
    readonly name: string;
    readonly generation: number;
    readonly resourceVersion: string;
    readonly managedFields?: readonly { readonly manager: string; readonly apiVersion: string }[];
  };
}

export class VersionedKinds {
  readonly namespace = `conversion-${randomBytes(4).toString('hex')}`;
  readonly kinds: readonly ChangedKind[];
  readonly #transport: Transport;
  readonly #webhook: ConversionWebhook;

  constructor(kinds: readonly ChangedKind[], transport: Transport, webhook: ConversionWebhook) {
    this.kinds = kinds;
    this.#transport = transport;
    this.#webhook = webhook;
  }

  /** Installs the definitions as they are before there is a v1. */
  async install(): Promise<void> {
    await this.#transport.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: this.namespace } } });
    await this.#define(BEFORE);
  }

  async remove(): Promise<void> {
    await forEachOf(this.kinds, IN_FLIGHT, (kind) => this.#transport.request({ method: 'DELETE', path: definitionPath(kind) }));
    await this.#transport.request({ method: 'DELETE', path: `/api/v1/namespaces/${this.namespace}` });
  }

  serveBoth(): Promise<void> {
    return this.#define(BOTH);
  }

  /** Rewrites every object in v1, and takes v1beta1 and its conversion out of the definitions. */
  async migrate(): Promise<void> {
    await this.#define(MIGRATING);
    for (const kind of this.kinds) {
      await forEachOf(await this.list(kind, NEW), IN_FLIGHT, async (object) => {
        // An update without a change is written all the same where it is stored in another version: then it has another resourceVersion.
        await eventually(async () => {
          const written = await this.put(object);
          if (written.metadata.resourceVersion === object.metadata.resourceVersion)
            throw new Error(`${object.kind} ${object.metadata.name} is still stored in the former version`);
        });
      });
      const status = { status: { storedVersions: ['v1'] } };
      await this.#transport.request({ method: 'PATCH', path: `${definitionPath(kind)}/status`, contentType: MERGE_PATCH, body: status });
    }
    await this.#define(AFTER);
  }

  get(kind: ChangedKind, version: Version, name: string): Promise<ManagedObject> {
    return this.#transport.request({ method: 'GET', path: this.#path(kind, version, name) });
  }

  async list(kind: ChangedKind, version: Version): Promise<readonly ManagedObject[]> {
    const request = { method: 'GET', path: this.#path(kind, version) } as const;
    return (await this.#transport.request<{ readonly items: readonly ManagedObject[] }>(request)).items;
  }

  create(object: ConvertedObject): Promise<ManagedObject> {
    return this.#write('POST', object, {});
  }

  put(object: ConvertedObject): Promise<ManagedObject> {
    return this.#write('PUT', object, {});
  }

  apply(object: ConvertedObject, fieldManager: string): Promise<ManagedObject> {
    return this.#write('PATCH', object, { contentType: 'application/apply-patch+yaml', query: { fieldManager } });
  }

  patch(object: ConvertedObject, patch: object): Promise<ManagedObject> {
    const path = this.#path(this.kindOf(object), object.apiVersion as Version, String(object.metadata['name']));
    return this.#transport.request({ method: 'PATCH', path, contentType: MERGE_PATCH, body: patch });
  }

  kindOf({ kind }: ConvertedObject): ChangedKind {
    const found = this.kinds.find((each) => each.kind === kind);
    if (found === undefined) throw new Error(`there is no kind ${kind}`);
    return found;
  }

  #write(method: 'POST' | 'PUT' | 'PATCH', object: ConvertedObject, more: Partial<KubeRequest>): Promise<ManagedObject> {
    const name = String(object.metadata['name']);
    const path = this.#path(this.kindOf(object), object.apiVersion as Version, method === 'POST' ? undefined : name);
    return this.#transport.request({ method, path, body: object, ...more });
  }

  #path({ plural }: ChangedKind, version: Version, name?: string): string {
    return `/apis/${version}/namespaces/${this.namespace}/${plural}${name === undefined ? '' : `/${name}`}`;
  }

  async #define(stage: Stage): Promise<void> {
    await forEachOf(this.kinds, IN_FLIGHT, async (kind) => {
      await this.#transport.request({
        method: 'PATCH',
        path: definitionPath(kind),
        query: { fieldManager: 'bench', force: true },
        contentType: 'application/apply-patch+yaml',
        body: definitionOf(kind, stage, this.#webhook.conversion),
      });
      // The API server serves a changed definition a moment later.
      for (const version of stage.served) await eventually(() => this.list(kind, version));
    });
  }
}

const MERGE_PATCH = 'application/merge-patch+json';
const definitionPath = ({ plural }: ChangedKind): string => `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${GROUP}`;

function definitionOf({ plural, definition, schemas }: ChangedKind, { served, stored, converted }: Stage, conversion: object): object {
  const { names, scope, versions } = definition.spec;
  const [{ schema } = { schema: { openAPIV3Schema: {} as StructuralSchema } }] = versions;
  return {
    apiVersion: definition.apiVersion,
    kind: definition.kind,
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      // Short names and categories are the real kinds'.
      names: { ...names, shortNames: [], categories: [] },
      scope,
      versions: served.map((version) => ({
        name: version.slice(GROUP.length + 1),
        served: true,
        storage: version === stored,
        schema: {
          openAPIV3Schema: { ...schema.openAPIV3Schema, properties: { ...schema.openAPIV3Schema.properties, spec: schemas[version] } },
        },
        subresources: { status: {} },
      })),
      ...(converted ? { conversion } : { conversion: { strategy: 'None' } }),
    },
  };
}
