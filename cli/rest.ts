/** The REST API as commands use it: where it is and who asks come from the environment. */
import { UserError } from './failure.ts';

export interface RestClient {
  /** @throws UserError with what the server says, and with the cure where there is one */
  request(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object | FormData): Promise<unknown>;
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
  return {
    async request(method, path, body) {
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
      const answer: unknown = await response.json().catch(() => undefined);
      if (response.ok) return answer;
      throw new UserError(`${method} ${path}: ${response.status} ${messageOf(answer)}`, cureFor(response.status, path));
    },
  };
}

function cureFor(status: number, path: string): { readonly cure?: string } {
  const area = path.startsWith('/v1/public/webhook') ? 'webhooks' : 'knowledge_bases';
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
