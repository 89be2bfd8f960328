import { describe, expect, it } from 'vitest';

import { MISSING_KEY } from '../../agent-tests/cassettes/recorder.ts';
import { fileKeys, secretVariable, withProviderVariables } from './keys.ts';

const ref = { name: 'language-model', key: 'api-key' };
const model = { provider: 'openai', apiKeySecretRef: ref };
const read = ({
  env = {},
  inFiles,
  models = [model],
  others,
  needed = true,
}: {
  env?: Record<string, string>;
  inFiles?: string;
  models?: readonly object[];
  others?: unknown;
  needed?: boolean;
}) => fileKeys({ env, secret: () => inFiles, models: models as (typeof model)[], others, needed }).read('org', ref);

describe('a key', () => {
  it('comes from its own variable, then the files, then the variable of the provider', async () => {
    const env = { PARLEY_SECRET_LANGUAGE_MODEL_API_KEY: 'own', OPENAI_API_KEY: 'provider' };
    expect(await read({ env, inFiles: 'file' })).toBe('own');
    expect(await read({ env: { OPENAI_API_KEY: 'provider' }, inFiles: 'file' })).toBe('file');
    expect(await read({ env: { OPENAI_API_KEY: ' provider\n' } })).toBe('provider');
    expect(await read({ env: { OPENAI_API_KEY: 'provider' }, inFiles: 'replace-me-with-a-key' })).toBe('provider');
  });

  it('of a provider never goes to an address of the files', async () => {
    const models = [{ ...model, baseURL: 'https://elsewhere.example' }];
    await expect(read({ env: { OPENAI_API_KEY: 'provider' }, models })).rejects.toThrow(/set PARLEY_SECRET_LANGUAGE_MODEL_API_KEY$/);
  });

  it('of a provider never goes to what names the same Secret for another address', async () => {
    const env = { OPENAI_API_KEY: 'provider' };
    const refused = /set PARLEY_SECRET_LANGUAGE_MODEL_API_KEY$/;
    await expect(read({ env, models: [model, { ...model, baseURL: 'https://elsewhere.example' }] })).rejects.toThrow(refused);
    await expect(read({ env, models: [model, { ...model, provider: 'groq' }] })).rejects.toThrow(refused);
    const tool = { spec: { url: 'https://elsewhere.example', headers: [{ name: 'Authorization', valueFrom: { secretKeyRef: ref } }] } };
    await expect(read({ env, others: [undefined, [tool]] })).rejects.toThrow(refused);
    expect(await read({ env, models: [model, model], others: [[{ spec: { secretKeyRef: { ...ref, key: 'other' } } }]] })).toBe('provider');
  });

  it('that is nowhere is named, or not needed', async () => {
    await expect(read({})).rejects.toThrow(
      'Secret language-model with the key "api-key" is not in the files: set OPENAI_API_KEY or PARLEY_SECRET_LANGUAGE_MODEL_API_KEY',
    );
    expect(await read({ needed: false })).toBe(MISSING_KEY);
  });

  it('has a variable that shells take', () => {
    expect(secretVariable({ name: 'order.system', key: 'auth-token' })).toBe('PARLEY_SECRET_ORDER_SYSTEM_AUTH_TOKEN');
  });
});

it('providers without an entry get their variable', () => {
  const given = [{ name: 'openai', baseURL: 'http://x' }];
  expect(withProviderVariables(given, { OPENAI_API_KEY: 'a', GROQ_API_KEY: 'b', ANTHROPIC_API_KEY: '' })).toEqual([
    ...given,
    { name: 'groq', apiKeyEnv: 'GROQ_API_KEY' },
  ]);
});
