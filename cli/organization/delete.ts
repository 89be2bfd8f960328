/** `parley org delete`: removes an organisation with everything it has, in an order in which each step can be repeated. */
import { Client, Connection } from '@temporalio/client';

import { kinds, wellKnown } from '../../crds/index.ts';
import { KubeError, ResourceClient, type KubeObject, type Transport } from '../../kube/index.ts';
import { collectionRef } from '../../knowledge/search/create-search.ts';
import { awakeClock, sleep } from '../../platform/clock.ts';
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
import { FIELD_MANAGER } from '../cluster.ts';
import { builtIn } from '../descriptors.ts';
import { withKnowledge } from '../knowledge/offline.ts';

/** How long the operator may take to release deleted resources, in milliseconds. */
const FINALIZERS_MS = 180_000;
const PAGE = 1_000;

export interface Inventory extends RowsOfOrganization {
  /** Resources by kind. */
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

/** What would go. */
export async function takeInventory(means: Means): Promise<Inventory> {
  const { org } = means;
  const [rows, namespace, resources, files] = await Promise.all([
    countOrganizationRows(means),
    namespaceOf(means),
    Promise.all(kinds.map(async ({ descriptor }) => [descriptor.kind, (await resourcesOf(means, descriptor)).length] as const)),
    withKnowledge(means.store, ({ storage }) => filesOf(storage, org)),
  ]);
  return { ...rows, namespace, resources: Object.fromEntries(resources.filter(([, count]) => count > 0)), files: files.length };
}

export interface DeleteOrganizationOptions extends Means {
  readonly inventory: Inventory;
  readonly deleteNamespace: boolean;
  readonly onProgress: (line: string) => void;
}

/** Safe to run again after a failure. @throws UserError when the operator does not release a resource, with a cure */
export async function deleteOrganization(options: DeleteOrganizationOptions): Promise<void> {
  const { org, inventory, onProgress } = options;
  await revokeOrganizationKeys(options);
  onProgress('keys are revoked');
  await deleteResources(options);
  // From here on the roles don't look at it any more.
  await leaveNamespace(options, inventory.namespace);
  await endWorkflows(options);
  await withKnowledge(options.store, async ({ storage, vectors }) => {
    for (const collection of await collectionsOf(options)) await vectors.deleteCollection(collectionRef(collection));
    let count = 0;
    for (const key of await filesOf(storage, org)) {
      await storage.delete(key);
      count += 1;
    }
    onProgress(`${count} files are deleted`);
  });
  await removeOrganizationRows(options, (table, rows) => onProgress(`${rows} rows of ${table} are deleted`));
}

async function deleteResources({ org, transport, onProgress }: DeleteOrganizationOptions): Promise<void> {
  const deadline = Date.now() + FINALIZERS_MS;
  const asked = new Set<string>();
  for (;;) {
    const left: string[] = [];
    for (const { descriptor } of kinds) {
      const client = new ResourceClient<KubeObject>({ transport, descriptor, fieldManager: FIELD_MANAGER });
      for (const { metadata } of await resourcesOf({ org, transport }, descriptor)) {
        left.push(`${descriptor.kind} ${metadata.name}`);
        if (asked.has(metadata.uid)) continue;
        asked.add(metadata.uid);
        await client.delete({ namespace: org, name: metadata.name }).catch(unlessGone);
      }
    }
    if (left.length === 0) break;
    if (Date.now() > deadline) {
      throw new UserError(`${left.slice(0, 3).join(', ')}${left.length > 3 ? ` and ${left.length - 3} more` : ''} is still being deleted`, {
        cure: `the operator removes what they have outside of the cluster: does it run? kubectl describe it, then run this again`,
      });
    }
    await sleep(awakeClock, 500);
  }
  onProgress(`${asked.size} resources are deleted`);
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
  // Read again: its version has changed since, and its other fields keep their owners.
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
      // With its history; one that runs is ended by it.
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

async function filesOf(
  storage: { list(prefix: string, page: { readonly after?: string; readonly limit: number }): Promise<readonly string[]> },
  org: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const prefix of [`${org}/`, `recordings/${org}/`]) {
    for (
      let page = await storage.list(prefix, { limit: PAGE });
      page.length > 0;
      page = await storage.list(prefix, { limit: PAGE, after: page.at(-1)! })
    )
      found.push(...page);
  }
  return found;
}

async function resourcesOf({ org, transport }: Pick<Means, 'org' | 'transport'>, descriptor: (typeof kinds)[number]['descriptor']) {
  const client = new ResourceClient<KubeObject>({ transport, descriptor, fieldManager: FIELD_MANAGER });
  return (await client.listAll({ namespace: org })).items;
}

async function namespaceOf({ org, transport }: Means): Promise<Namespace | undefined> {
  const client = new ResourceClient<KubeObject>({ transport, descriptor: builtIn.namespaces, fieldManager: FIELD_MANAGER });
  const found = await client.get({ name: org }).catch(unlessGone);
  return found?.metadata.labels?.[wellKnown.organizationLabel] === 'true' ? found : undefined;
}

function unlessGone(error: unknown): undefined {
  if (error instanceof KubeError && error.notFound) return undefined;
  throw error;
}
