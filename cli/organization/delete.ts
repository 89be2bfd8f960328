/** `parley org delete`: removes an organisation with everything it has, in an order in which each step can be repeated. */
import { Client, Connection } from '@temporalio/client';

import { wellKnown } from '../../crds/index.ts';
import { ResourceClient, type KubeObject, type Transport } from '../../kube/index.ts';
import { collectionRef } from '../../knowledge/search/create-search.ts';
import { awakeClock } from '../../platform/clock.ts';
import { loadConfig } from '../../platform/config/config.ts';
import { temporalOf } from '../../platform/temporal/access.ts';
import {
  countOrganizationRows,
  removeOrganizationRows,
  revokeOrganizationKeys,
  type Collection,
  type RowsOfOrganization,
  type Store,
} from '../../store/index.ts';
import { UserError } from '../../platform/user-error.ts';
import { keysOf, prefixesOf } from '../backup/storage-files.ts';
import { FIELD_MANAGER } from '../cluster/connect.ts';
import { builtIn } from '../cluster/descriptors.ts';
import { withKnowledge } from '../knowledge/offline.ts';
import { deleteResources, heldResources, isOurs, namesOf, unlessGone } from './delete-resources.ts';

export interface Inventory extends RowsOfOrganization {
  readonly resources: Readonly<Record<string, number>>;
  readonly files: number;
  readonly namespace: Namespace | undefined;
}

type Namespace = Awaited<ReturnType<ResourceClient<KubeObject>['get']>>;

export interface Means {
  readonly org: string;
  readonly databaseUrl: string;
  readonly store: Store;
  readonly transport: Transport;
}

/** Counts what would go. */
export async function takeInventory(means: Means): Promise<Inventory> {
  const { org } = means;
  const [rows, namespace, resources, files] = await Promise.all([
    countOrganizationRows(means),
    readNamespace(means),
    heldResources(means),
    withKnowledge(means.store, ({ storage }) => keysOf(storage, prefixesOf(org))),
  ]);
  const byKind = Map.groupBy(resources, ({ kind }) => kind);
  return {
    ...rows,
    namespace,
    resources: Object.fromEntries([...byKind].map(([kind, of]) => [kind, of.length])),
    files: files.length,
  };
}

export interface DeleteOrganizationOptions extends Means {
  readonly inventory: Inventory;
  readonly deleteNamespace: boolean;
  readonly onProgress: (line: string) => void;
}

/**
 * Can be repeated after a failure. Rows and files go also where a finalizer holds a resource: whoever may write one must not keep an
 * organisation from being erased.
 * @throws UserError where a resource is still there at the end, with a cure
 */
export async function deleteOrganization(options: DeleteOrganizationOptions): Promise<void> {
  const { org, inventory, onProgress } = options;
  await revokeOrganizationKeys(options);
  onProgress('keys are revoked');
  // From then on the roles don't look at it any more: what is not released yet has to be seen by the operator.
  if (await deleteResources({ ...options, clock: awakeClock })) await leaveNamespace(options, inventory.namespace);
  await endWorkflows(options);
  await withKnowledge(options.store, async ({ storage, vectors }) => {
    for (const collection of await collectionsOf(options)) await vectors.deleteCollection(collectionRef(collection));
    let count = 0;
    for (const key of await keysOf(storage, prefixesOf(org))) {
      await storage.delete(key);
      count += 1;
    }
    onProgress(`${count} files are deleted`);
  });
  await removeOrganizationRows(options, (table, rows) => onProgress(`${rows} rows of ${table} are deleted`));
  await requireNothingHeld(options);
}

/** @throws UserError that says who holds the resources that are still there, and how they are let go */
async function requireNothingHeld(options: DeleteOrganizationOptions): Promise<void> {
  const { org } = options;
  const held = await heldResources(options);
  const [first] = held;
  if (first === undefined) return;
  const ours = held.filter(isOurs);
  if (ours.length > 0)
    throw new UserError(`the operator has not released ${namesOf(ours)}; everything else of "${org}" is deleted`, {
      cure: 'does it run? Start it, then run this again',
    });
  const finalizers = [...new Set(held.flatMap((each) => each.finalizers))];
  if (finalizers.length === 0)
    throw new UserError(`${namesOf(held)} came back while "${org}" was deleted`, {
      cure: 'something applies them, such as GitOps: stop it, then run this again',
    });
  throw new UserError(
    `${namesOf(held)} ${held.length === 1 ? 'is' : 'are'} held by ${finalizers.join(', ')}; everything else of "${org}" is deleted`,
    {
      cure: `let whoever set the finalizer release it, or remove it: kubectl patch ${first.kind.toLowerCase()}.parley.dev ${first.name} -n ${org} --type merge -p '{"metadata":{"finalizers":null}}'`,
    },
  );
}

async function leaveNamespace(
  { transport, deleteNamespace, onProgress, org }: DeleteOrganizationOptions,
  namespace: Namespace | undefined,
): Promise<void> {
  if (namespace === undefined) return;
  const client = new ResourceClient<KubeObject>({ transport, descriptor: builtIn.namespaces, fieldManager: FIELD_MANAGER });
  if (deleteNamespace) {
    await client.delete({ name: org }).catch(unlessGone);
    onProgress(`namespace ${org} is being deleted`);
    return;
  }
  // Reads the namespace again: its version has changed since, and its other fields keep their owners.
  await client.mergePatch(await client.get({ name: org }), { metadata: { labels: { [wellKnown.organizationLabel]: null } } });
  onProgress(`removed the label of namespace ${org}; everything else in it stays`);
}

async function endWorkflows({ org, onProgress }: DeleteOrganizationOptions): Promise<void> {
  const { address, namespace, access } = temporalOf(loadConfig(process.env));
  const connection = await Connection.connect({ address, ...access, connectTimeout: 10_000 }).catch((cause: unknown) => {
    throw new UserError(`Temporal can't be reached at ${address}`, { cure: 'set TEMPORAL_ADDRESS, then run this again', cause });
  });
  try {
    const client = new Client({ connection, namespace });
    let count = 0;
    for await (const { workflowId, runId } of client.workflow.list({ query: `ParleyOrganization = "${org}"` })) {
      // Deletes the workflow with its history, and ends it where it runs.
      await connection.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId, runId } });
      count += 1;
    }
    onProgress(`${count} workflows are deleted`);
  } catch (error) {
    // The attributes come with the first workflow of a knowledge base or a delivery.
    if (!/ParleyOrganization/.test(String((error as { readonly cause?: unknown }).cause ?? error))) throw error;
  } finally {
    await connection.close();
  }
}

async function collectionsOf({ org, store }: Means): Promise<readonly Collection[]> {
  const { collections } = store.knowledge;
  return [...(await collections.list(org)), ...(await collections.tombstoned(org))];
}

async function readNamespace({ org, transport }: Means): Promise<Namespace | undefined> {
  const client = new ResourceClient<KubeObject>({ transport, descriptor: builtIn.namespaces, fieldManager: FIELD_MANAGER });
  const found = await client.get({ name: org }).catch(unlessGone);
  return found?.metadata.labels?.[wellKnown.organizationLabel] === 'true' ? found : undefined;
}
