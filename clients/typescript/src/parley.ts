/** The client: every operation of the API by its method and path, with the types of the OpenAPI document. */
import createClient, { type MaybeOptionalInit } from 'openapi-fetch';
import type { HttpMethod, PathsWithMethod, RequiredKeysOf, ResponseObjectMap, SuccessResponse } from 'openapi-typescript-helpers';

import { failureOf } from './error.ts';
import type { paths } from './schema.ts';
import { realEffects, sender, type SendEffects } from './send.ts';

export interface ParleyOptions {
  /** Address of the API: `https://parley.example.com`. */
  readonly url: string;
  readonly apiKey: string;
  /** Attempts in addition to the first one; default 4. */
  readonly retries?: number;
  /** Limit of each attempt, in milliseconds; default 60,000. A call's own `signal` ends all of them. */
  readonly timeoutMs?: number;
  /** The longest wait between attempts, in milliseconds; default 30,000. */
  readonly maxWaitMs?: number;
}

type Operation<Path extends keyof paths, Method> = Method extends keyof paths[Path] ? paths[Path][Method] : never;

/** Bodies by `parseAs`, for answers that are no JSON. */
interface Bodies {
  readonly text: string;
  readonly blob: Blob;
  readonly arrayBuffer: ArrayBuffer;
  readonly stream: ReadableStream<Uint8Array>;
}

/** The type of an operation's successful answer. */
type Answer<Path extends keyof paths, Method, Given> = Given extends { readonly parseAs: infer As extends keyof Bodies }
  ? Bodies[As]
  : Operation<Path, Method> extends infer Asked extends Record<string | number, unknown>
    ? SuccessResponse<ResponseObjectMap<Asked>>
    : never;

/** `params`, `body`, and what `fetch` takes, such as `signal`; left out where nothing has to be said. */
type Init<Path extends keyof paths, Method> = MaybeOptionalInit<paths[Path], Method & keyof paths[Path]>;
type InitParam<Given> = RequiredKeysOf<Given> extends never ? [init?: Given] : [init: Given];

/** A method of the client. @throws ParleyError */
type Ask<Method extends HttpMethod> = <Path extends PathsWithMethod<paths, Method>, Given extends Init<Path, Method>>(
  path: Path,
  ...init: InitParam<Given>
) => Promise<Answer<Path, Method, Given>>;

/** Paths of lists that come in pages. */
type ListPath = {
  [Path in PathsWithMethod<paths, 'get'>]: Answer<Path, 'get', object> extends { readonly next_page_token?: string | null } ? Path : never;
}[PathsWithMethod<paths, 'get'>];

/** The type of a list's items. */
type Item<Path extends ListPath> =
  Answer<Path, 'get', object> extends { readonly data: readonly (infer One)[] } | { readonly calls: readonly (infer One)[] } ? One : never;

interface Page {
  readonly data?: readonly unknown[];
  readonly calls?: readonly unknown[];
  readonly next_page_token?: string | null;
}

interface FetchAnswer {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

type FetchRequest = (method: HttpMethod, path: string, init: object) => Promise<FetchAnswer>;

export class Parley {
  readonly get = this.#asking('get');
  readonly post = this.#asking('post');
  readonly put = this.#asking('put');
  readonly patch = this.#asking('patch');
  readonly delete = this.#asking('delete');
  readonly #request: FetchRequest;

  constructor({ url, apiKey, retries = 4, timeoutMs = 60_000, maxWaitMs = 30_000 }: ParleyOptions, effects: SendEffects = realEffects) {
    const client = createClient<paths>({
      baseUrl: url,
      headers: { authorization: `Bearer ${apiKey}` },
      fetch: sender({ retries, timeoutMs, maxWaitMs }, effects),
      bodySerializer: serialize,
    });
    this.#request = client.request as FetchRequest;
  }

  /** Does as the methods above, with the answer's status and headers: `ETag`, `Idempotency-Replayed`, `Warning`. @throws ParleyError */
  async send<Method extends HttpMethod, Path extends PathsWithMethod<paths, Method>, Given extends Init<Path, Method>>(
    method: Method,
    path: Path,
    ...[init]: InitParam<Given>
  ): Promise<{ readonly data: Answer<Path, Method, Given>; readonly response: Response }> {
    const { data, response } = await this.#answer(method, path, init);
    return { data: data as Answer<Path, Method, Given>, response };
  }

  /** Yields every object of a list, page after page: `for await (const agent of parley.list('/v2/ai-agents'))`. @throws ParleyError */
  async *list<Path extends ListPath, Given extends Init<Path, 'get'>>(
    path: Path,
    ...[init]: InitParam<Given>
  ): AsyncGenerator<Item<Path>, void, undefined> {
    const { params } = (init ?? {}) as { readonly params?: { readonly query?: object } };
    let token: string | null | undefined;
    do {
      const query = { ...params?.query, ...(token && { page_token: token }) };
      const page = (await this.#answer('get', path, { ...init, params: { ...params, query } })).data as Page;
      yield* (page.data ?? page.calls ?? []) as readonly Item<Path>[];
      token = page.next_page_token;
    } while (token);
  }

  #asking<Method extends HttpMethod>(method: Method): Ask<Method> {
    const ask = async (path: string, init?: object): Promise<unknown> => (await this.#answer(method, path, init)).data;
    return ask as Ask<Method>;
  }

  async #answer(method: HttpMethod, path: string, init: object = {}): Promise<FetchAnswer> {
    const answer = await this.#request(method, path, init);
    if (!answer.response.ok) throw failureOf(answer.response, answer.error, `${method.toUpperCase()} ${path}`);
    return answer;
  }
}

/** Sends a body with a file as a form, and a file by itself as it is. */
function serialize(body: unknown): NonNullable<RequestInit['body']> {
  if (body instanceof Blob || body instanceof FormData || typeof body === 'string') return body;
  const fields = Object.entries(body as object) as [string, string | Blob][];
  if (!fields.some(([, value]) => value instanceof Blob)) return JSON.stringify(body);
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  return form;
}
