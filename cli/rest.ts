/** The REST API as commands use it: where it is and who asks come from the environment. */
import { UserError } from './failure.ts';

export interface RestClient {
  /** @throws UserError with what the server says, and with the cure where there is one */
  request(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object | FormData): Promise<unknown>;
  /** The same for an answer that is not JSON. */
  download(method: 'GET' | 'POST', path: string, body?: object): Promise<Uint8Array>;
}

/** The server has answered, with a no. */
export class RestRefusal extends UserError {
  readonly status: number;
  /** As the server names it: `not_found`. */
  readonly code: string | undefined;
  /** What the server says, without what was asked. */
  readonly said: string;

  constructor(status: number, answer: unknown, request: { readonly method: string; readonly path: string }) {
    const said = messageOf(answer);
    super(`${request.method} ${request.path}: ${status} ${said}`, cureFor(status, request.path));
    this.status = status;
    this.code = (answer as { readonly error?: string } | undefined)?.error;
    this.said = said;
  }
}

export interface RestClientOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly fetch?: typeof fetch;
}

/** @throws UserError when PARLEY_URL or PARLEY_API_KEY is not set */
export function restClientFromEnvironment(env: NodeJS.ProcessEnv): RestClient {
  const { PARLEY_URL: url, PARLEY_API_KEY: apiKey } = env;
  if (url !== undefined && url !== '' && apiKey !== undefined && apiKey !== '') return createRestClient({ url, apiKey });
  throw new UserError(`${url === undefined || url === '' ? 'PARLEY_URL' : 'PARLEY_API_KEY'} is not set`, {
    cure: 'with the local stack running: eval "$(parley env)"; elsewhere: export PARLEY_URL=https://… PARLEY_API_KEY=pk_…',
  });
}

export function createRestClient({ url, apiKey, fetch: ask = fetch }: RestClientOptions): RestClient {
  const send = async (method: string, path: string, body: object | FormData | undefined): Promise<Response> => {
    const isForm = body instanceof FormData;
    const response = await ask(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body !== undefined && !isForm && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new UserError(`${url} does not answer: ${causeOf(error)}`, {
        cure: 'is the api running, and is PARLEY_URL right?',
        cause: error,
      });
    });
    if (response.ok) return response;
    throw new RestRefusal(response.status, await response.json().catch(() => undefined), { method, path });
  };
  return {
    async request(method, path, body) {
      const response = await send(method, path, body);
      return response.json().catch(() => undefined);
    },
    async download(method, path, body) {
      return new Uint8Array(await (await send(method, path, body)).arrayBuffer());
    },
  };
}

/** Which permission an address needs. */
const areas = [
  ['/v1/public/webhook', 'webhooks'],
  ['/v1/calls', 'calls'],
  ['/v1/call-recording', 'recordings'],
] as const;

function cureFor(status: number, path: string): { readonly cure?: string } {
  const area = areas.find(([prefix]) => path.startsWith(prefix))?.[1] ?? 'knowledge_bases';
  if (status === 401) return { cure: 'check PARLEY_API_KEY: `parley keys list --org <organisation>` shows what there is' };
  if (status === 403) return { cure: `use a key with the permission ${area}:read, or :write to change something` };
  if (status === 404 && area === 'webhooks')
    return { cure: '`parley webhooks list` shows the subscriptions, `parley webhooks deliveries <subscription>` what was sent to one' };
  return {};
}

/** `{error, message}` or FastAPI's `{detail: [{loc, msg}]}`. */
function messageOf(answer: unknown): string {
  const { message, detail } = (answer ?? {}) as {
    readonly message?: string;
    readonly detail?: readonly { readonly loc: readonly unknown[]; readonly msg: string }[];
  };
  if (detail !== undefined) return detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
  return message ?? '';
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}
