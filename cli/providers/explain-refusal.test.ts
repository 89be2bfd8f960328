import { describe, expect, it } from 'vitest';

import { EgressError, type EgressErrorKind } from '../../platform/egress/egress-error.ts';
import { knownProvider, type ProviderName } from './catalogue.ts';
import { explainFailure, explainNonsense, explainRefusal, explainSlowness, type AskedPart, type ProblemKind } from './explain-refusal.ts';

const KEY = 'sk-never-shown';

function asked(name: ProviderName, part: AskedPart['part'] = 'llm', more: Partial<AskedPart> = {}): AskedPart {
  const { addresses, model, variables } = knownProvider(name);
  const address = addresses[part];
  return {
    name,
    part,
    baseURL: typeof address === 'string' ? address : 'http://127.0.0.1:8000/v1',
    ...(part === 'llm' && model !== undefined && { model }),
    keyFrom: variables[0],
    ...more,
  };
}

/** The bodies are those that the providers document, or that reports of their users quote. */
const REFUSALS: readonly (readonly [ProblemKind, ProviderName, AskedPart['part'], number, unknown, RegExp])[] = [
  [
    'key',
    'openai',
    'llm',
    401,
    { error: { message: `Incorrect API key provided: ${KEY}.`, code: 'invalid_api_key' } },
    /platform\.openai\.com/,
  ],
  [
    'credit',
    'openai',
    'llm',
    429,
    {
      error: {
        message: 'You exceeded your current quota, please check your plan and billing details.',
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      },
    },
    /billing of the account of OpenAI/,
  ],
  [
    'limit',
    'openai',
    'llm',
    429,
    {
      error: {
        message: 'Rate limit reached for gpt-4o-mini in organization org-x on requests per min (RPM): Limit 3, Used 3.',
        code: 'rate_limit_exceeded',
      },
    },
    /wait a minute/,
  ],
  [
    'model',
    'openai',
    'llm',
    404,
    { error: { message: 'The model `gpt-9` does not exist or you do not have access to it.', code: 'model_not_found' } },
    /--model/,
  ],
  [
    'permission',
    'openai',
    'tts',
    401,
    { error: { message: 'You have insufficient permissions for this operation. Missing scopes: model.request.' } },
    /permission/,
  ],
  [
    'permission',
    'openai',
    'llm',
    403,
    { error: { code: 'unsupported_country_region_territory', message: 'Country, region, or territory not supported' } },
    /permission/,
  ],
  [
    'key',
    'anthropic',
    'llm',
    401,
    { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } },
    /console\.anthropic\.com/,
  ],
  [
    'credit',
    'anthropic',
    'llm',
    400,
    { error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' } },
    /Anthropic/,
  ],
  ['model', 'anthropic', 'llm', 404, { error: { type: 'not_found_error', message: 'model: claude-haiku-4-5' } }, /--model/],
  ['provider', 'anthropic', 'llm', 529, { error: { type: 'overloaded_error', message: 'Overloaded' } }, /status page of Anthropic/],
  [
    'key',
    'google',
    'llm',
    400,
    [
      {
        error: {
          code: 400,
          message: 'API key not valid. Please pass a valid API key.',
          status: 'INVALID_ARGUMENT',
          details: [{ reason: 'API_KEY_INVALID' }],
        },
      },
    ],
    /aistudio/,
  ],
  [
    'permission',
    'google',
    'stt',
    403,
    {
      error: {
        code: 403,
        message: 'Cloud Speech-to-Text API has not been used in project 1 before or it is disabled.',
        status: 'PERMISSION_DENIED',
        details: [{ reason: 'SERVICE_DISABLED' }],
      },
    },
    /enable the API of speech to text/,
  ],
  [
    'model',
    'groq',
    'llm',
    400,
    { error: { message: 'The model `llama-3.3-70b-versatile` has been decommissioned', code: 'model_decommissioned' } },
    /--model/,
  ],
  ['key', 'deepgram', 'stt', 401, { err_code: 'INVALID_AUTH', err_msg: 'Invalid credentials.' }, /console\.deepgram\.com/],
  [
    'credit',
    'deepgram',
    'stt',
    402,
    {
      err_code: 'ASR_PAYMENT_REQUIRED',
      err_msg: 'Project does not have enough credits for an ASR request and does not have an overage agreement.',
    },
    /Deepgram/,
  ],
  [
    'permission',
    'deepgram',
    'tts',
    403,
    { err_code: 'INSUFFICIENT_PERMISSIONS', err_msg: 'Project does not have access to the requested model.' },
    /permission/,
  ],
  [
    'credit',
    'elevenlabs',
    'tts',
    401,
    { detail: { status: 'quota_exceeded', message: 'This request exceeds your quota of 10000.' } },
    /ElevenLabs/,
  ],
  [
    'permission',
    'elevenlabs',
    'tts',
    401,
    { detail: { status: 'missing_permissions', message: 'The API key you used is missing the permission text_to_speech' } },
    /permission/,
  ],
  ['key', 'elevenlabs', 'tts', 401, { detail: { status: 'invalid_api_key', message: 'Invalid API key' } }, /elevenlabs\.io/],
  ['key', 'cartesia', 'tts', 401, 'Unauthorized', /play\.cartesia\.ai/],
  ['absent', 'openai_compatible', 'tts', 404, 'not found', /look at the address/],
  ['absent', 'openai_compatible', 'llm', 404, { detail: 'Not Found' }, /look at the address/],
  ['model', 'ollama', 'llm', 404, { error: { message: 'model "qwen9" not found, try pulling it first' } }, /--model/],
  ['model', 'openai', 'llm', 400, { error: { message: 'Unsupported value' } }, /--model/],
  ['provider', 'elevenlabs', 'stt', 503, '', /status page of ElevenLabs/],
];

describe('a refusal', () => {
  it.each(REFUSALS)('about %s: %s, %s, %i', (kind, name, part, status, body, cure) => {
    const said = typeof body === 'string' ? body : JSON.stringify(body);
    const problem = explainRefusal(asked(name, part), { status, contentType: 'application/json', said });
    expect(problem).toMatchObject({ kind, message: expect.stringContaining(String(status)), cure: expect.stringMatching(cure) });
    expect(problem.message).toContain(knownProvider(name).title);
    expect(JSON.stringify(problem)).not.toContain(KEY);
  });

  it.each([[200], [403], [407], [511 - 100]])('that is a web page (%i) comes from a proxy', (status) => {
    const problem = explainRefusal(asked('openai'), {
      status,
      contentType: 'text/html; charset=utf-8',
      said: '<html>Log in, invalid api key',
    });
    expect(problem).toMatchObject({ kind: 'proxy', cure: expect.stringContaining('api.openai.com') });
  });

  it('that redirects is not followed', () => {
    expect(explainRefusal(asked('openai'), { status: 302, contentType: '', said: '' }).kind).toBe('proxy');
  });

  it('without a key asks for one', () => {
    const refusal = { status: 401, contentType: '', said: '' };
    expect(explainRefusal(asked('openai_compatible', 'llm', { keyFrom: undefined }), refusal)).toMatchObject({
      kind: 'key',
      message: expect.stringContaining('asks for a key'),
      cure: 'set OPENAI_COMPATIBLE_API_KEY',
    });
    expect(explainRefusal(asked('ollama', 'llm', { keyFrom: undefined }), refusal).cure).toContain('openai_compatible with --base-url');
  });
});

describe('a failure', () => {
  const failure = (kind: EgressErrorKind, code?: string): Error =>
    new TypeError('fetch failed', {
      cause: new EgressError({
        kind,
        phase: 'connect',
        host: 'h',
        message: 'the guard says why',
        cause: Object.assign(new Error('x'), { code }),
      }),
    });

  it.each<[EgressErrorKind, string | undefined, ProblemKind, RegExp]>([
    ['dns', undefined, 'network', /check the network and its name server$/],
    ['connect', 'ETIMEDOUT', 'network', /check the network$/],
    ['tls', 'SELF_SIGNED_CERT_IN_CHAIN', 'proxy', /NODE_EXTRA_CA_CERTS/],
    ['forbidden_address', undefined, 'address', /PARLEY_EGRESS_ALLOW_CIDRS/],
  ])('of kind %s (%s) is about %s', (kind, code, problem, cure) => {
    expect(explainFailure(asked('openai'), failure(kind, code), {})).toMatchObject({ kind: problem, cure: expect.stringMatching(cure) });
  });

  it('behind a proxy says that connections do not use it', () => {
    const { cure } = explainFailure(asked('openai'), failure('connect', 'ECONNREFUSED'), { https_proxy: 'http://user:secret@proxy:3128' });
    expect(cure).toContain('https_proxy is set');
    expect(cure).toContain('reach api.openai.com directly');
    expect(cure).not.toContain('secret');
  });

  it('of a server of this machine says how it is started', () => {
    expect(explainFailure(asked('ollama'), failure('connect', 'ECONNREFUSED'), { HTTPS_PROXY: 'x' }).cure).toContain('ollama serve');
    expect(explainFailure(asked('openai_compatible'), failure('connect', 'ECONNREFUSED'), {}).cure).toContain('start the server');
  });
});

it('says that an answer is late, or no answer', () => {
  expect(explainSlowness(asked('openai_compatible'), 180_000)).toMatchObject({
    message: expect.stringContaining('180 s'),
    cure: expect.stringContaining('loading its model'),
  });
  expect(explainNonsense(asked('openai_compatible'))).toMatchObject({ kind: 'address', cure: 'check the address in --base-url' });
});
