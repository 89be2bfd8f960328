/** Create, apply, update, patch and delete: from a request to what is stored. */
import { randomUUID } from 'node:crypto';

import { apiVersionOf, type ManagedFieldsEntry } from '../../../kube/types.ts';
import { admit, decode } from './admission.ts';
import { applyFields, updateFields, type Writer } from './managed.ts';
import { mergePatch, sameJson, withDefaults } from './merge.ts';
import {
  checkVersion,
  groupResource,
  identityMetadata,
  identityOf,
  keyOf,
  kindName,
  managedFieldsOf,
  systemMetadata,
  typeMeta,
  withManagedFields,
  withMetadata,
  withoutStatus,
  type Target,
} from './object-parts.ts';
import { badRequest, invalid, notFound, RefusalError, stale } from './refusal.ts';
import type { Json } from './schema.ts';
import type { Store } from './store.ts';
import { typedErrors } from './validate.ts';

export interface WriteOptions {
  readonly manager: string;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly strict: boolean;
}

export interface DeleteOptions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly dryRun: boolean;
}

export interface WriteResult {
  readonly code: 200 | 201;
  readonly object: Json;
  readonly warnings: readonly string[];
}

export class Writes {
  readonly #store: Store;
  readonly #now: () => number;

  constructor(options: { readonly store: Store; readonly now: () => number }) {
    this.#store = options.store;
    this.#now = options.now;
  }

  create(target: Target, body: Json, options: WriteOptions): WriteResult {
    const metadata = (body['metadata'] ?? {}) as Json;
    const { name: given, generateName } = metadata as { readonly name?: string; readonly generateName?: string };
    const name = given || (generateName ? `${generateName}${randomUUID().slice(0, 5)}` : '');
    const at = { ...target, name };
    this.#checkNamespace(at);
    if (this.#live(at) !== undefined) {
      throw new RefusalError({ code: 409, reason: 'AlreadyExists', message: `${groupResource(at.resource)} "${name}" already exists` });
    }
    const { object, warnings } = decode(at.resource, { ...body, metadata: { ...metadata, name } }, options.strict);
    return {
      ...this.#createFrom(at, object, options, (complete) => this.#updated(at, identityOf(complete), complete, [], options)),
      warnings,
    };
  }

  apply(target: Target, body: Json, options: WriteOptions): WriteResult {
    if (options.manager === '') {
      throw invalid('PatchOptions.meta.k8s.io', '', [
        { reason: 'FieldValueRequired', field: 'fieldManager', message: 'Required value: is required for apply patch' },
      ]);
    }
    const metadata = (body['metadata'] ?? {}) as Json;
    if (metadata['managedFields'] !== undefined) throw badRequest('metadata.managedFields must be nil');
    this.#checkNamespace(target);
    const live = this.#live(target);
    const uid = metadata['uid'] as string | undefined;
    if (live === undefined && target.subresource !== undefined) throw notFound(groupResource(target.resource), target.name);
    if (live === undefined && uid !== undefined) {
      throw stale(
        groupResource(target.resource),
        target.name,
        `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
      );
    }
    const errors = typedErrors(body, target.resource.schema);
    if (errors.length > 0) {
      const type = `${target.namespace ?? ''}/${target.name}; ${apiVersionOf(target.resource.descriptor)}, Kind=${target.resource.descriptor.kind}`;
      throw new RefusalError({
        code: 500,
        message: `failed to create typed patch object (${type}): ${errors.length === 1 ? errors[0] : `errors:\n  ${errors.join('\n  ')}`}`,
      });
    }
    const applied = this.#writable(target, { ...body, metadata: { ...metadata, name: target.name } });
    const run = (from: Json): Json => {
      const result = applyFields({
        live: from,
        applied,
        schema: target.resource.schema,
        managedFields: managedFieldsOf(from),
        writer: this.#writer(target, options),
        force: options.force,
      });
      return withManagedFields(result.object, result.managedFields);
    };
    if (live === undefined)
      return {
        ...this.#createFrom(target, { ...applied, ...typeMeta(target.resource) }, options, () =>
          run(withMetadata(typeMeta(target.resource), identityMetadata(target))),
        ),
        warnings: [],
      };
    checkVersion(target, live, metadata);
    return { ...this.#replaceWith(target, live, run(live), options), warnings: [] };
  }

  update(target: Target, body: Json, options: WriteOptions): WriteResult {
    const live = this.#live(target);
    if (live === undefined) throw notFound(groupResource(target.resource), target.name);
    const metadata = (body['metadata'] ?? {}) as Json;
    checkVersion(target, live, metadata);
    if (!target.resource.unconditionalUpdate && metadata['resourceVersion'] === undefined) {
      throw invalid(kindName(target.resource), target.name, [
        { reason: 'FieldValueInvalid', field: 'metadata.resourceVersion', message: 'Invalid value: 0: must be specified for an update' },
      ]);
    }
    return this.#replace(target, live, body, options);
  }

  patch(target: Target, patch: Json, options: WriteOptions): WriteResult {
    const live = this.#live(target);
    if (live === undefined) throw notFound(groupResource(target.resource), target.name);
    checkVersion(target, live, (patch['metadata'] ?? {}) as Json);
    return this.#replace(target, live, mergePatch(live, patch) as Json, options);
  }

  delete(target: Target, options: DeleteOptions): Json {
    const live = this.#live(target);
    if (live === undefined) throw notFound(groupResource(target.resource), target.name);
    const metadata = live['metadata'] as Json;
    if (options.uid !== undefined && options.uid !== metadata['uid']) {
      throw stale(
        kindName(target.resource),
        target.name,
        `the UID in the precondition (${options.uid}) does not match the UID in record (${String(metadata['uid'])}). The object might have been deleted and then recreated`,
      );
    }
    if (options.resourceVersion !== undefined && options.resourceVersion !== metadata['resourceVersion']) {
      throw stale(
        kindName(target.resource),
        target.name,
        `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${String(metadata['resourceVersion'])}). The object might have been modified`,
      );
    }
    const finalizers = (metadata['finalizers'] ?? []) as readonly string[];
    if (finalizers.length === 0) {
      if (!options.dryRun) this.#remove(target, live);
      const { group, plural } = target.resource.descriptor;
      return {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: target.name, ...(group === '' ? {} : { group }), kind: plural, uid: metadata['uid'] },
      };
    }
    if (metadata['deletionTimestamp'] !== undefined) return live;
    const going = withMetadata(live, {
      deletionTimestamp: this.#time(),
      deletionGracePeriodSeconds: 0,
      ...(target.resource.generation ? { generation: Number(metadata['generation']) + 1 } : {}),
    });
    return options.dryRun ? going : this.#store.put(groupResource(target.resource), keyOf(target), going);
  }

  #replace(target: Target, live: Json, body: Json, options: WriteOptions): WriteResult {
    const { object, warnings } = decode(target.resource, body, options.strict);
    const writable = this.#writable(target, object);
    const kept: Json =
      target.subresource === 'status'
        ? { ...live, ...(writable['status'] === undefined ? {} : { status: writable['status'] }) }
        : { ...writable, ...(target.resource.statusSubresource && live['status'] !== undefined ? { status: live['status'] } : {}) };
    const metadata =
      target.subresource === 'status'
        ? (live['metadata'] as Json)
        : { ...((kept['metadata'] ?? {}) as Json), ...systemMetadata(live, object) };
    const next = this.#updated(target, live, { ...kept, ...typeMeta(target.resource), metadata }, managedFieldsOf(live), options);
    return { ...this.#replaceWith(target, live, next, options), warnings };
  }

  #updated(target: Target, live: Json, updated: Json, managedFields: readonly ManagedFieldsEntry[], options: WriteOptions): Json {
    const complete = target.resource.prepare(withDefaults(updated, target.resource.schema) as Json);
    const result = updateFields({
      live,
      updated: complete,
      schema: target.resource.schema,
      managedFields,
      writer: this.#writer(target, options),
    });
    return withManagedFields(result.object, result.managedFields);
  }

  /** A new object, with what the server adds to it. */
  #createFrom(target: Target, body: Json, options: WriteOptions, own: (complete: Json) => Json): Omit<WriteResult, 'warnings'> {
    const metadata = (body['metadata'] ?? {}) as Json;
    if (target.resource.statusSubresource) body = Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'status'));
    const owned = own({ ...body, ...typeMeta(target.resource), metadata: { ...metadata, ...identityMetadata(target) } });
    const object = withMetadata(target.resource.prepare(withDefaults(owned, target.resource.schema) as Json), {
      ...identityMetadata(target),
      uid: randomUUID(),
      creationTimestamp: this.#time(),
      resourceVersion: undefined,
      ...(target.resource.generation ? { generation: 1 } : {}),
    });
    admit(target, object, undefined);
    return {
      code: 201,
      object: options.dryRun
        ? (JSON.parse(JSON.stringify(object)) as Json)
        : this.#store.put(groupResource(target.resource), keyOf(target), JSON.parse(JSON.stringify(object)) as Json),
    };
  }

  /** An object in place of another; nothing is written when they are equal. */
  #replaceWith(target: Target, live: Json, next: Json, options: WriteOptions): Omit<WriteResult, 'warnings'> {
    const metadata = live['metadata'] as Json;
    let object = target.resource.prepare(withDefaults(next, target.resource.schema) as Json);
    const { resourceVersion, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = metadata;
    object = withMetadata(object, { resourceVersion, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation });
    if (target.resource.generation && !sameJson(withoutStatus(live), withoutStatus(object)))
      object = withMetadata(object, { generation: Number(metadata['generation']) + 1 });
    admit(target, object, live);
    if (sameJson(live, object)) return { code: 200, object: live };
    if (options.dryRun) return { code: 200, object };
    const finalizers = ((object['metadata'] as Json)['finalizers'] ?? []) as readonly string[];
    if (metadata['deletionTimestamp'] !== undefined && finalizers.length === 0) return { code: 200, object: this.#remove(target, object) };
    return { code: 200, object: this.#store.put(groupResource(target.resource), keyOf(target), object) };
  }

  /** The endpoint of the object doesn't write its status, that of the status nothing else. */
  #writable(target: Target, body: Json): Json {
    if (target.subresource === 'status') {
      const { name, namespace, uid, resourceVersion } = (body['metadata'] ?? {}) as Json;
      const metadata = JSON.parse(JSON.stringify({ name, namespace, uid, resourceVersion })) as Json;
      return { ...typeMeta(target.resource), metadata, ...(body['status'] === undefined ? {} : { status: body['status'] }) };
    }
    if (!target.resource.statusSubresource) return body;
    return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'status'));
  }

  #checkNamespace(target: Target): void {
    if (target.resource.descriptor.namespaced && this.#store.get('namespaces', `/${target.namespace ?? ''}`) === undefined) {
      throw notFound('namespaces', target.namespace ?? '');
    }
  }

  /** A namespace takes all that is in it along. */
  #remove(target: Target, last: Json): Json {
    const removed = this.#store.remove(groupResource(target.resource), keyOf(target), last);
    if (groupResource(target.resource) === 'namespaces') this.onNamespaceRemoved(target.name);
    return removed;
  }

  /** Set by the double, which knows all resources. */
  onNamespaceRemoved: (namespace: string) => void = () => undefined;

  #live(target: Target): Json | undefined {
    return this.#store.get(groupResource(target.resource), keyOf(target));
  }

  #writer(target: Target, options: WriteOptions): Writer {
    return {
      manager: options.manager || 'unknown',
      apiVersion: apiVersionOf(target.resource.descriptor),
      subresource: target.subresource,
      time: this.#time(),
    };
  }

  #time(): string {
    return `${new Date(this.#now()).toISOString().slice(0, 19)}Z`;
  }
}
