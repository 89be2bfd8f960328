/** Serves a live API to the clients of all languages: with an agent in service, and a proxy in front that counts and loses. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { repository } from '../../support/stack.ts';
import { realMediaServer, serveAgent } from '../api/calls-support.ts';
import { organization, startFacade, type Facade, type TestOrganization } from '../api/facade.ts';
import { startLosingProxy, type LosingProxy } from './losing-proxy.ts';

export interface ServedApi {
  readonly facade: Facade;
  readonly org: TestOrganization;
  readonly proxy: LosingProxy;
  /** Environment of programs: the API's address, and a key that may do everything. */
  readonly env: Readonly<Record<'PARLEY_URL' | 'PARLEY_API_KEY', string>>;
  /** Returns the operations of the OpenAPI document that were asked for through the proxy. */
  operations(): Promise<ReadonlySet<string>>;
  close(): Promise<void>;
}

/** Organisations may hold 1,000 calls at once, and `receptionist` takes them. */
export async function startServedApi(): Promise<ServedApi> {
  const facade = await startFacade({ calls: { mediaServer: await realMediaServer() } });
  const org = await organization(facade);
  await facade.store.organizations.limitLiveCalls(org.name, 1_000);
  await serveAgent(facade.store, org.name, 'receptionist', { displayName: 'Receptionist' });
  const proxy = await startLosingProxy(facade.url);
  return {
    facade,
    org,
    proxy,
    env: { PARLEY_URL: proxy.url, PARLEY_API_KEY: org.key },
    operations: async () => operationsOf(proxy.asked, await documentedOperations()),
    async close() {
      await proxy.close();
      await facade.close();
    },
  };
}

interface Operation {
  readonly id: string;
  readonly pattern: RegExp;
}

async function documentedOperations(): Promise<readonly Operation[]> {
  const { paths } = JSON.parse(await readFile(join(repository, 'docs/reference/openapi.json'), 'utf8')) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
  };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { operationId }]) => ({
      id: operationId,
      pattern: new RegExp(`^${method.toUpperCase()} ${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
    })),
  );
}

/** A path that names something (`/signed-url`) is no id. */
function operationsOf(asked: readonly string[], operations: readonly Operation[]): ReadonlySet<string> {
  const plain = operations.toSorted((a, b) => a.pattern.source.split('[^/]+').length - b.pattern.source.split('[^/]+').length);
  return new Set(asked.flatMap((one) => plain.find(({ pattern }) => pattern.test(one))?.id ?? []));
}
