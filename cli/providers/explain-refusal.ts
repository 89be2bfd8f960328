/** Says in plain words why a provider can't be used, and what to do. What the provider wrote is read for its meaning, and never repeated: it may quote the key. */
import { PART_NAMES, type ProviderPart } from '../../calls/provider-access/index.ts';
import { errorCodeOf } from '../../platform/caught.ts';
import { EgressError } from '../../platform/egress/egress-error.ts';
import { knownProvider, type ProviderName } from './catalogue.ts';

export type ProblemKind =
  | 'key'
  | 'credit'
  | 'limit'
  | 'model'
  /** The key is right and may not do this. */
  | 'permission'
  /** The server has no such part. */
  | 'absent'
  | 'proxy'
  | 'network'
  | 'address'
  /** The provider fails at the moment. */
  | 'provider';

export interface PartProblem {
  readonly kind: ProblemKind;
  readonly message: string;
  readonly cure: string;
}

export interface AskedPart {
  readonly part: ProviderPart;
  readonly name: ProviderName;
  readonly baseURL: string;
  /** Language model, or the provider's default. */
  readonly model?: string;
  /** Where the key is from; undefined where none was sent. */
  readonly keyFrom: string | undefined;
}

/** The answer of a provider that is no success. */
export interface Refusal {
  readonly status: number;
  readonly contentType: string;
  /** Beginning of the body. */
  readonly said: string;
}

/** OpenAI, Groq; Anthropic; ElevenLabs; Deepgram, Cartesia; Google. */
const CREDIT = /insufficient_quota|credit balance|quota_exceeded|credits|payment.?required|billing|current quota/i;
const WRONG_KEY = /API_KEY_INVALID|API key not valid|invalid[ _]api[ _]key|invalid_auth/i;
const FORBIDDEN = /missing[ _](scopes|permissions?)|insufficient[ _]permissions?|SERVICE_DISABLED|SERVICE_BLOCKED|PERMISSION_DENIED/i;
const NO_MODEL = /model_not_found|model_decommissioned|model[^.]{0,80}(not found|does not exist|not (have )?access|decommissioned)/i;

export function explainRefusal(asked: AskedPart, { status, contentType, said }: Refusal): PartProblem {
  const { name, part, baseURL, model, keyFrom } = asked;
  const { title, keysPage = 'the page of its keys', variables } = knownProvider(name);
  const problem = problemOf(asked);
  const host = new URL(baseURL).host;
  if (status === 407 || (status < 500 && isWebPage(contentType)))
    return problem('proxy', `a proxy or a web page answers in its place (${status})`, proxyCure(host));
  if (status >= 300 && status < 400)
    return problem(
      'proxy',
      `the answer is a redirect (${status}), which is not followed with a key`,
      `${proxyCure(host)}, or correct --base-url`,
    );
  if (status === 402 || (status < 500 && CREDIT.test(said)))
    return problem(
      'credit',
      `the account has no credit, or its quota is used up (${status})`,
      `look at plan and billing of the account of ${title}, and run the command again`,
    );
  if (WRONG_KEY.test(said) || (status === 401 && !FORBIDDEN.test(said))) {
    const [variable] = variables;
    return keyFrom === undefined
      ? problem(
          'key',
          `it asks for a key (${status})`,
          variable === undefined ? 'use openai_compatible with --base-url, and its key' : `set ${variable}`,
        )
      : problem('key', `the key in ${keyFrom} is not accepted (${status})`, `copy it again from ${keysPage}, or make a new one there`);
  }
  if (NO_MODEL.test(said)) return withoutModel(asked, status);
  if (status === 403 || FORBIDDEN.test(said)) {
    const cure =
      name === 'google' && part !== 'llm'
        ? `enable the API of ${PART_NAMES[part]} in the project of the key, and allow the key to use it`
        : `give the key this permission at ${keysPage}, or use a key without restrictions`;
    return problem('permission', `the key may not use the ${PART_NAMES[part]} (${status})`, cure);
  }
  if (status === 404 && part === 'llm' && model !== undefined && knownProvider(name).addresses.llm === baseURL)
    return withoutModel(asked, status);
  if (status === 404 || status === 405 || status === 501)
    return problem(
      'absent',
      `there is no ${PART_NAMES[part]} at ${baseURL} (${status})`,
      'look at the address: it ends before /chat/completions or /audio/speech',
    );
  if (status === 429) return problem('limit', 'its limit of requests is reached (429)', 'wait a minute, and run the command again');
  if (status >= 500)
    return problem(
      'provider',
      `it fails at the moment (${status})`,
      `look at the status page of ${title}, and run the command again later`,
    );
  return problem(
    'model',
    `it refuses the request (${status})${model === undefined ? '' : ` to ${model}`}`,
    part === 'llm' ? 'name another model with --model' : 'see docs/calls/providers.md for settings of this part',
  );
}

/** Explains why no answer came. @param env tells of a proxy, which Parley's own connections don't use */
export function explainFailure(asked: AskedPart, error: unknown, env: Readonly<Record<string, string | undefined>>): PartProblem {
  const problem = problemOf(asked);
  const { host, hostname } = new URL(asked.baseURL);
  const proxy = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find((name) => (env[name] ?? '') !== '');
  const behindProxy =
    proxy === undefined ? '' : `. ${proxy} is set, and Parley's own connections do not use it: they have to reach ${host} directly`;
  const kind = egressErrorIn(error)?.kind;
  if (kind === 'forbidden_address' || kind === 'forbidden_url')
    return problem(
      'address',
      `${host} may not be called: ${egressErrorIn(error)!.message}`,
      'start the stack with PARLEY_EGRESS_ALLOW_CIDRS=<its network>, and run the command with it, too',
    );
  if (kind === 'dns' || kind === 'dns_unavailable')
    return problem('network', `the name ${hostname} has no address here`, `check the network and its name server${behindProxy}`);
  if (kind === 'tls')
    return problem(
      'proxy',
      `the certificate of ${host} is not accepted (${errorCodeOf(error) ?? 'TLS'})`,
      'a proxy between may open connections: set NODE_EXTRA_CA_CERTS to its certificate, and start the stack with it, too',
    );
  if (isLocal(hostname))
    return problem(
      'network',
      `nothing answers at ${host}`,
      `start ${asked.name === 'ollama' ? 'it (ollama serve)' : 'the server'}, or correct --base-url`,
    );
  return problem('network', `${host} can't be reached (${errorCodeOf(error) ?? 'no answer'})`, `check the network${behindProxy}`);
}

export function explainSlowness(asked: AskedPart, ms: number): PartProblem {
  return problemOf(asked)(
    'provider',
    `it has not answered within ${ms / 1000} s`,
    'run the command again; a server of your own may still be loading its model',
  );
}

/** Explains an answer with status 200 that is none of this API. */
export function explainNonsense(asked: AskedPart): PartProblem {
  return problemOf(asked)(
    'address',
    `what answers at ${asked.baseURL} does not speak its protocol`,
    `check the address${asked.name === 'openai_compatible' ? ' in --base-url' : ', and whether a proxy answers in its place'}`,
  );
}

function withoutModel(asked: AskedPart, status: number): PartProblem {
  const { part, model = 'the model' } = asked;
  return problemOf(asked)(
    'model',
    `${model} is not available to this account (${status})`,
    part === 'llm' ? 'name another model with --model' : 'look at what the account may use',
  );
}

/** Tells the login page of a network, or a proxy's page of errors, from an answer of an API. */
export const isWebPage = (contentType: string): boolean => /text\/html/i.test(contentType);

const problemOf =
  ({ name, part }: AskedPart) =>
  (kind: ProblemKind, what: string, cure: string): PartProblem => ({
    kind,
    message: `${knownProvider(name).title} (${PART_NAMES[part]}): ${what}`,
    cure,
  });

const proxyCure = (host: string): string =>
  `open ${host} in a browser of this machine: the network may ask for a login, or its proxy must let ${host} through`;

const isLocal = (hostname: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

function egressErrorIn(error: unknown): EgressError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof EgressError) return at;
  return undefined;
}
