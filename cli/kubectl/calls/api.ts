/**
 * Connects a user with a kubeconfig to the REST API: by PARLEY_URL where it is set, else through the API server's proxy to the chart's
 * Service, which works from wherever kubectl works. The key comes from a flag's Secret, the shell, or the organisation's Secret.
 */
import { KubeError, type KubeObject, type Stored } from '../../../kube/index.ts';
import { UserError } from '../../../platform/user-error.ts';
import { createRestClient, RestError, type RestClient } from '../../../api/client/rest-client.ts';
import type { ClusterConnection } from '../connection.ts';
import { builtIn } from '../../cluster/descriptors.ts';
import { installed, labels, roleOf } from '../../cluster/installation.ts';
import type { Io } from '../io.ts';
import { Reader } from '../../cluster/reader.ts';

export interface ApiFlags {
  /** `<name>` or `<name>/<key>`. */
  readonly apiKeySecret?: string;
  readonly apiUrl?: string;
  /** `<namespace>/<name>` */
  readonly apiService?: string;
}

export type Api = Pick<RestClient, 'request'>;

/** Secret in which the key of an organisation is looked for when nothing names one. */
const DEFAULT_SECRET = 'parley-api-key';
const DEFAULT_KEY = 'apiKey';
/** This header arrives: `Authorization` is for the API server, which takes it off. */
const KEY_HEADER = 'x-parley-api-key';

/**
 * @param permission the one that the key needs, for people who have to make one
 * @throws UserError where there is no key, or no way
 */
export async function openApi(
  connection: ClusterConnection,
  flags: ApiFlags,
  io: Pick<Io, 'env'>,
  permission = 'calls:read',
): Promise<Api> {
  const env = envOf(connection, io);
  const apiKey = await findKey(connection, flags, env, permission);
  const url = flags.apiUrl ?? env.PARLEY_URL;
  if (url !== undefined && url !== '' && flags.apiService === undefined) return createRestClient({ url, apiKey });
  return throughProxy(connection, await findService(connection, flags), apiKey);
}

/** The shell speaks of the cluster and the organisation that it was set for; a command line that names others doesn't mean it. */
function envOf(
  { clusterNamed, namespace }: ClusterConnection,
  { env }: Pick<Io, 'env'>,
): Partial<Record<'PARLEY_URL' | 'PARLEY_API_KEY', string>> {
  const { PARLEY_URL, PARLEY_API_KEY, PARLEY_ORG } = env;
  if (clusterNamed) return {};
  const another = PARLEY_ORG !== undefined && PARLEY_ORG !== '' && PARLEY_ORG !== namespace;
  return { ...(PARLEY_URL && { PARLEY_URL }), ...(PARLEY_API_KEY && !another && { PARLEY_API_KEY }) };
}

async function findKey(
  connection: ClusterConnection,
  flags: ApiFlags,
  env: { readonly PARLEY_API_KEY?: string },
  permission: string,
): Promise<string> {
  if (flags.apiKeySecret === undefined && env.PARLEY_API_KEY !== undefined) return env.PARLEY_API_KEY;
  const [name = '', key = DEFAULT_KEY] = (flags.apiKeySecret ?? DEFAULT_SECRET).split('/');
  const { namespace } = connection;
  const cure =
    `make a key and keep it there: parley keys create --org ${namespace} --name kubectl --permissions ${permission}; ` +
    `kubectl create secret generic ${name} -n ${namespace} --from-literal=${key}=pk_…; or name another one with --api-key-secret, or set PARLEY_API_KEY`;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(name)}`;
  const reader = new Reader(connection.transport);
  const secret = await reader.get<{ readonly data?: Readonly<Record<string, string>> }>(path, `the Secret ${namespace}/${name}`);
  if (secret === 'refused')
    throw new UserError(`the API key can't be read: ${reader.notes.join('; ')}`, { cure: `set PARLEY_API_KEY, or ${cure}` });
  if (secret === undefined)
    throw new UserError(`there is no API key: neither PARLEY_API_KEY nor the Secret ${namespace}/${name}`, { cure });
  const value = Buffer.from(secret.data?.[key] ?? '', 'base64')
    .toString()
    .trim();
  if (value !== '') return value;
  const there = Object.keys(secret.data ?? {});
  throw new UserError(`the Secret ${namespace}/${name} has no key "${key}"${there.length === 0 ? '' : `; it has: ${there.join(', ')}`}`, {
    cure: `name it: --api-key-secret ${name}/<key>`,
  });
}

interface ServiceAddress {
  readonly namespace: string;
  readonly name: string;
}

interface Service extends KubeObject {
  readonly spec?: object;
}

async function findService(connection: ClusterConnection, flags: ApiFlags): Promise<ServiceAddress> {
  if (flags.apiService !== undefined) {
    const [namespace = '', name = '', ...rest] = flags.apiService.split('/');
    if (namespace !== '' && name !== '' && rest.length === 0) return { namespace, name };
    throw new UserError(`"${flags.apiService}" names no Service`, { cure: 'write --api-service <namespace>/<name>' });
  }
  const reader = new Reader(connection.transport);
  const services = await installed<Service>(reader, builtIn.services, connection);
  const found = (services ?? []).filter((service) => roleOf(service) === 'api');
  const [first, second] = found;
  if (first === undefined) {
    // A user who may use the one Service need not be allowed to list Services: try the chart's default name.
    if (services === undefined) return { namespace: connection.systemNamespace ?? 'parley-system', name: 'parley-api' };
    throw new UserError("no Service of an installation's api can be found", {
      cure: 'name it with --api-service <namespace>/<name>, or the address with --api-url or PARLEY_URL; with the local stack: eval "$(parley env)"',
    });
  }
  if (second !== undefined) {
    const names = found.map(
      (service) => `${address(service).namespace}/${address(service).name} (release ${service.metadata.labels?.[labels.instance] ?? '?'})`,
    );
    throw new UserError(`there are several installations: ${names.join(', ')}`, { cure: 'name one with --api-service <namespace>/<name>' });
  }
  return address(first);
}

function address({ metadata: { namespace = '', name } }: Stored<Service>): ServiceAddress {
  return { namespace, name };
}

function throughProxy({ transport }: ClusterConnection, service: ServiceAddress, apiKey: string): Api {
  const base = `/api/v1/namespaces/${encodeURIComponent(service.namespace)}/services/http:${encodeURIComponent(service.name)}:http/proxy`;
  return {
    async request(method, path, body) {
      try {
        return await transport.request({
          method,
          path: base + path,
          headers: { [KEY_HEADER]: apiKey },
          // Long enough for an api that is being restarted.
          timeoutMs: 10_000,
          ...(body !== undefined && { body }),
        });
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        throw refusalOf(error, { method, path }) ?? explain(error, service);
      }
    },
  };
}

/** Tells Parley's own answer from one of the API server's proxy. */
function refusalOf(error: KubeError, request: { readonly method: string; readonly path: string }): RestError | undefined {
  if (error.body === undefined) return undefined;
  try {
    return new RestError(error.code, JSON.parse(error.body), request);
  } catch {
    return undefined;
  }
}

function explain(error: KubeError, { namespace, name }: ServiceAddress): UserError {
  const what = `the Service ${namespace}/${name} can't be used through the API server`;
  if (error.code === 403) {
    return new UserError(`${what}: you may not`, {
      cure: `ask for \`get\` of services/proxy on it, and \`create\` to change something (docs/kubectl-plugin.md has the Role), or: kubectl port-forward -n ${namespace} svc/${name} 8080:80, and --api-url http://127.0.0.1:8080`,
      cause: error,
    });
  }
  if (error.code === 404) {
    return new UserError(`there is no Service ${namespace}/${name}`, {
      cure: 'name the one of the api with --api-service <namespace>/<name>, or its address with --api-url',
      cause: error,
    });
  }
  return new UserError(`${what}: ${error.message}`, {
    // An API server of 1.37 answers alike for a Service that isn't there and one without a pod.
    cure: `is it the one of the api (--api-service <namespace>/<name>), and a pod of it ready? kubectl parley status; does a NetworkPolicy keep the API server from it? Then: kubectl port-forward -n ${namespace} svc/${name} 8080:80, and --api-url http://127.0.0.1:8080`,
    cause: error,
  });
}
