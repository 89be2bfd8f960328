/** Access tokens by OAuth client credentials (RFC 6749, 4.4), shared by the calls of a process. */
import { sha256 } from '../../platform/canonical-json.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { errorMessageOf } from '../../platform/caught.ts';
import { parseJson } from '../../platform/json.ts';
import { LruMap } from '../../platform/lru.ts';
import { McpError } from './mcp-error.ts';

export interface TokenRequest {
  readonly org: string;
  readonly tokenURL: string;
  readonly clientID: string;
  readonly scope?: string | undefined;
  /** The server that the token is for (RFC 8707). */
  readonly resource: string;
}

export interface TokenSource {
  /** @throws McpError `unauthorized` where the token endpoint gives none; what reading the secret rejects with */
  get(): Promise<string>;
  /** The server doesn't take this token. One that was asked for since stays: calls that ran together are refused one after the other. */
  forget(refused: string): void;
}

interface Asked {
  readonly request: TokenRequest;
  readonly egress: Pick<Egress, 'request'>;
  readonly secret: string;
}

interface Token {
  readonly value: Promise<string>;
  /** The token itself; undefined until it is there. */
  given: string | undefined;
  /** Milliseconds of the monotonic clock; Infinity until the answer says when. */
  expiresAt: number;
}

/** How long a token is used where the server doesn't say how long it is good, in milliseconds. */
const DEFAULT_LIFE_MS = 300_000;
/** Longest time that a token is kept, whatever the server says: a secret that was revoked there ends with it, in milliseconds. */
const LONGEST_LIFE_MS = 3_600_000;
/** A token is replaced so long before it expires, or after nine tenths of its life: a request takes time. */
const MARGIN_MS = 60_000;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const MAX_TOKENS = 1_000;

export class OAuthTokens {
  readonly #clock: Clock;
  readonly #tokens = new LruMap<string, Token>(MAX_TOKENS);

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /**
   * Gives the tokens that one client sends to one server.
   * @param readSecret called for each token: only a caller that has the present secret gets the token given for it
   */
  of(request: TokenRequest, egress: Pick<Egress, 'request'>, readSecret: () => Promise<string>): TokenSource {
    let key = '';
    return {
      get: async () => {
        const secret = await readSecret();
        key = JSON.stringify({ ...request, secret: sha256(secret) });
        return this.#get(key, { request, egress, secret });
      },
      forget: (refused) => {
        if (this.#tokens.get(key)?.given === refused) this.#tokens.delete(key);
      },
    };
  }

  #get(key: string, asked: Asked): Promise<string> {
    const known = this.#tokens.get(key);
    if (known !== undefined && this.#clock.monotonic() < known.expiresAt) return known.value;
    const value = this.#ask(asked, (expiresAt) => (token.expiresAt = expiresAt));
    const token: Token = { value, given: undefined, expiresAt: Infinity };
    this.#tokens.set(key, token);
    value.then(
      (given) => (token.given = given),
      // The next caller asks again.
      () => this.#tokens.get(key) === token && this.#tokens.delete(key),
    );
    return value;
  }

  async #ask({ request, egress, secret }: Asked, expires: (at: number) => void): Promise<string> {
    // Servers have to take Basic, and some take only the other.
    let answer = await ask(request, egress, { basic: secret });
    if (answer.status === 401 || (answer.status === 400 && /invalid_client/.test(answer.body.toString('utf8'))))
      answer = await ask(request, egress, { inBody: secret });
    const host = new URL(request.tokenURL).host;
    const { access_token: value, expires_in: seconds } = parsed(answer.body);
    if (answer.status !== 200 || typeof value !== 'string' || value === '') {
      throw new McpError(
        'unauthorized',
        `the token endpoint ${host} gives no access token (status ${answer.status}): check clientID, clientSecretRef and scope`,
        { status: answer.status },
      );
    }
    const lifeMs = Number(seconds) > 0 ? Math.min(Number(seconds) * 1_000, LONGEST_LIFE_MS) : DEFAULT_LIFE_MS;
    expires(this.#clock.monotonic() + lifeMs - Math.min(MARGIN_MS, lifeMs / 10));
    return value;
  }
}

async function ask(
  { tokenURL, clientID, scope, resource }: TokenRequest,
  egress: Pick<Egress, 'request'>,
  auth: { readonly basic?: string; readonly inBody?: string },
) {
  const form = new URLSearchParams({ grant_type: 'client_credentials', resource });
  if (scope !== undefined && scope !== '') form.set('scope', scope);
  if (auth.inBody !== undefined) {
    form.set('client_id', clientID);
    form.set('client_secret', auth.inBody);
  }
  try {
    return await egress.request({
      url: tokenURL,
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        ...(auth.basic !== undefined && {
          authorization: `Basic ${Buffer.from(`${encodeURIComponent(clientID)}:${encodeURIComponent(auth.basic)}`).toString('base64')}`,
        }),
      },
      body: form.toString(),
      timeoutMs: TIMEOUT_MS,
      maxBodyBytes: MAX_BYTES,
    });
  } catch (error) {
    throw new McpError('network', errorMessageOf(error), { cause: error });
  }
}

function parsed(body: Buffer): { readonly access_token?: unknown; readonly expires_in?: unknown } {
  const value = parseJson(body.toString('utf8'));
  return typeof value === 'object' && value !== null ? value : {};
}
