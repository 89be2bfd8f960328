/** Checks the servers other than Postgres with the configuration of this shell. */
import { Readable } from 'node:stream';
import { promises as dns } from 'node:dns';

import type { Config } from '../../platform/config/config.ts';
import type { Temporal } from '../../platform/temporal/access.ts';
import { httpUrlOf, mediaServerOf } from '../../calls/media-server.ts';
import { SEARCH_ATTRIBUTES } from '../../knowledge/jobs/names.ts';
import { deliverySearchAttributes } from '../../webhooks/temporal-retries/names.ts';
import { type Finding, findingsOf } from './finding.ts';
import { reachable } from './reachable.ts';

export async function* checkTemporal({ address, namespace, access }: Temporal): AsyncGenerator<Finding> {
  const temporal = findingsOf('temporal');
  if (!(await reachable(address))) {
    yield temporal.fail(`${address} can't be reached`, 'is it running, and is TEMPORAL_ADDRESS right?');
    return;
  }
  const { Connection } = await import('@temporalio/client');
  try {
    const connection = await Connection.connect({ address, ...access, connectTimeout: 10_000 });
    try {
      await connection.workflowService.describeNamespace({ namespace });
      yield temporal.ok(`${address}, namespace ${namespace}`);
      yield await checkSearchAttributes(() => connection.operatorService.listSearchAttributes({ namespace }), namespace);
    } finally {
      await connection.close();
    }
  } catch (error) {
    const reason = (error as Error).message;
    if (/not ?found/i.test(reason))
      yield temporal.fail(
        `${address} has no namespace ${namespace}`,
        `temporal operator namespace create --address ${address} ${namespace}, or set TEMPORAL_NAMESPACE`,
      );
    else yield temporal.fail(`${address}: ${reason}`, 'is it a Temporal frontend, and is TEMPORAL_ADDRESS right?');
  }
}

async function checkSearchAttributes(
  list: () => Promise<{ readonly customAttributes: Readonly<Record<string, unknown>> }>,
  namespace: string,
): Promise<Finding> {
  const findings = findingsOf('search-attributes');
  const wanted = [...new Set([...SEARCH_ATTRIBUTES, ...deliverySearchAttributes])];
  try {
    const { customAttributes } = await list();
    const missing = wanted.filter((name) => customAttributes[name] === undefined);
    if (missing.length === 0) return findings.ok(wanted.join(', '));
    return findings.warn(
      `not there yet: ${missing.join(', ')}; the first workflow adds them where it may, and without them none can be found by them`,
      missing
        .map((name) => `temporal operator search-attribute create --namespace ${namespace} --name ${name} --type Keyword`)
        .join(' && '),
    );
  } catch (error) {
    return findings.warn(`can't be listed: ${(error as Error).message}`);
  }
}

export async function checkMediaServer(config: Config): Promise<Finding> {
  const media = findingsOf('media-server');
  const { LIVEKIT_URL: url } = config;
  if (url === undefined)
    return media.warn('LIVEKIT_URL is not set: no calls are possible', 'set it as docs/calls/media-server.md describes');
  const http = httpUrlOf({ url });
  if (config.LIVEKIT_API_KEY === undefined || config.LIVEKIT_API_SECRET === undefined) {
    const { host, protocol, port } = new URL(http);
    return (await reachable(port === '' && protocol === 'http:' ? `${host}:80` : host))
      ? media.warn(
          `${url} answers; whether the key is right was not looked at`,
          'set LIVEKIT_API_KEY and LIVEKIT_API_SECRET as the roles have them',
        )
      : media.fail(`${url} can't be reached`, 'is it running, and is LIVEKIT_URL right?');
  }
  const { RoomServiceClient } = await import('livekit-server-sdk');
  try {
    const server = mediaServerOf(config);
    if (server === undefined) return media.fail('none is configured', 'set LIVEKIT_URL');
    await new RoomServiceClient(http, server.apiKey, server.apiSecret, { requestTimeout: 10 }).listRooms([]);
    return media.ok(`${url}, with the key ${server.apiKey}`);
  } catch (error) {
    const { status, message } = error as Error & { readonly status?: number };
    return status === 401 || status === 403
      ? media.fail(
          `${url} refuses the key ${config.LIVEKIT_API_KEY}: ${message}`,
          "let LIVEKIT_API_KEY and LIVEKIT_API_SECRET be a pair of the media server's configuration; look at the clocks, too",
        )
      : media.fail(`${url}: ${(error as Error).message}`, 'is it running, and is LIVEKIT_URL right?');
  }
}

/** Checks the api's public URL: the api knows no other address for the links that it gives out. */
export function checkPublicUrl({ PARLEY_PUBLIC_URL: url, LIVEKIT_URL: media }: Pick<Config, 'PARLEY_PUBLIC_URL' | 'LIVEKIT_URL'>): Finding {
  const links = findingsOf('public-url');
  if (url !== undefined) return links.ok(url);
  const alone = media === undefined || /^\w+:\/\/(127\.|localhost\b|\[::1\])/.test(media);
  return alone
    ? links.ok('not needed: calls, if there are any, stay on this machine')
    : links.warn(
        'PARLEY_PUBLIC_URL is not set: only the machine of the api can open the addresses of recordings',
        'set it to the address that clients know the API by',
      );
}

/** Uses a name of its own for each look, so that two that look at once don't meet. */
export async function checkFileStorage(url: string, options: { readonly isSet: boolean; readonly id: string }): Promise<Finding> {
  const files = findingsOf('file-storage');
  if (!options.isSet)
    return files.warn(
      `STORAGE_URL is not set here, and ${url} is the roles' own folder: not looked at`,
      'export STORAGE_URL as the roles have it',
    );
  const { openFileStorage } = await import('../../knowledge/storage/open-file-storage.ts');
  const key = `doctor-${options.id}`;
  const storage = openFileStorage({ url });
  try {
    await storage.health();
    await storage.put(key, Readable.from([Buffer.from(options.id)]), { maxBytes: 1_000 });
    const parts: Buffer[] = [];
    for await (const part of await storage.read(key)) parts.push(part as Buffer);
    await storage.delete(key);
    return Buffer.concat(parts).toString() === options.id
      ? files.ok(`${url}: written, read and removed a file`)
      : files.fail(`${url} gives back other bytes than it was given`, 'look at what stands between Parley and the storage');
  } catch (error) {
    return files.fail((error as Error).message, 'docs/operations/file-storage.md names the permissions that it takes');
  } finally {
    storage.close();
  }
}

export async function checkVectorStore(url: string): Promise<Finding> {
  const vectors = findingsOf('vector-store');
  if (url === 'pgvector:') return vectors.ok('pgvector, in Postgres');
  const { createVectorStore } = await import('../../knowledge/vector-stores/index.ts');
  try {
    // Milvus: the database is pgvector's alone.
    const store = createVectorStore({ url, database: unused });
    try {
      await store.health();
      return vectors.ok(`Milvus at ${new URL(url).host}`);
    } finally {
      await store.close();
    }
  } catch (error) {
    return vectors.fail((error as Error).message, 'is it running, and are address, user and password in VECTOR_STORE_URL right?');
  }
}

const unused = {
  asOrganization: () => Promise.reject(new Error('Milvus asks no database')),
  query: () => Promise.reject(new Error('Milvus asks no database')),
};

/** Accepts a server that answers that a name does not exist: it works, too. */
export async function checkNameServers(servers: readonly string[]): Promise<Finding> {
  const findings = findingsOf('name-servers');
  const silent: string[] = [];
  const asked = servers.length === 0 ? dns.getServers() : servers;
  await Promise.all(
    asked.map(async (server) => {
      const resolver = new dns.Resolver({ timeout: 3_000, tries: 2 });
      resolver.setServers([server]);
      await resolver.resolveNs('.').catch((error: NodeJS.ErrnoException) => {
        if (['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED'].includes(error.code ?? '')) silent.push(server);
      });
    }),
  );
  const from = servers.length === 0 ? 'of the system' : 'from PARLEY_EGRESS_DNS_SERVERS';
  if (silent.length === 0 && asked.length > 0) return findings.ok(`${asked.join(', ')}, ${from}`);
  const detail = asked.length === 0 ? 'the system has none' : `${silent.join(', ')}, ${from}: no answer`;
  const cure = 'webhooks, tools and websites are found through them: set PARLEY_EGRESS_DNS_SERVERS to some that answer';
  // Name servers may be out of reach from here, and within reach of the roles; and one of several is enough.
  return servers.length > 0 && silent.length === asked.length ? findings.fail(detail, cure) : findings.warn(detail, cure);
}
