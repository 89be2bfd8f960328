import { describe, expect, it } from 'vitest';

import { loadConfig } from '../../platform/config/config.ts';
import { createEmbedders } from './create-embedders.ts';

const server = { name: 'server', provider: 'openai_compatible', model: 'small', dimension: 3, baseURL: 'http://127.0.0.1:1/v1' };

function profiles(...list: readonly object[]) {
  return loadConfig({ PARLEY_EMBEDDING_PROFILES: JSON.stringify(list) }).PARLEY_EMBEDDING_PROFILES;
}

describe('profiles', () => {
  it('have defaults', () => {
    expect(profiles(server, { name: 'words', provider: 'lexical' })).toMatchObject([
      { batchSize: 64, concurrency: 4, timeoutMs: 30_000, maxTokens: 512, queryPrefix: '', passagePrefix: '' },
      { model: '', dimension: 0 },
    ]);
  });

  it.each<[string, object]>([
    ['a key written into it', { ...server, apiKey: 'sk-very-secret' }],
    ['a key in the address', { ...server, baseURL: 'https://user:sk-very-secret@host/v1' }],
    ['two keys', { ...server, apiKeyEnv: 'A', apiKeyFile: '/b' }],
    ['an address that is none', { ...server, baseURL: 'ftp://host' }],
    ['no dimension', { ...server, dimension: 0 }],
    ['a local model without a folder', { name: 'l', provider: 'local', model: 'm', dimension: 3 }],
    ['an unknown provider', { ...server, provider: 'magic' }],
  ])('are refused with %s, without repeating it', (_, profile) => {
    expect(() => profiles(profile)).toThrow(/^(?!.*sk-very-secret).*PARLEY_EMBEDDING_PROFILES/s);
  });
});

describe('embedders', () => {
  const embedders = createEmbedders({ profiles: profiles(server, { name: 'words', provider: 'lexical', model: 'bm25' }), env: {} });

  it('are made for profiles that have vectors', () => {
    expect(embedders.embedderOf({ profile: 'words', model: 'bm25', dimension: 0 })).toBeUndefined();
    expect(embedders.embedderOf({ profile: 'server', model: 'small', dimension: 3 })).toMatchObject({ model: 'small', dimension: 3 });
  });

  it.each([
    ['another model', { profile: 'server', model: 'large', dimension: 3 }],
    ['another dimension', { profile: 'server', model: 'small', dimension: 4 }],
    ['a profile that now ranks by words', { profile: 'words', model: 'small', dimension: 3 }],
    ['no such profile', { profile: 'gone', model: 'small', dimension: 3 }],
  ])('are refused to a knowledge base that was made with %s', (_, collection) => {
    expect(() => embedders.embedderOf(collection)).toThrow(
      expect.objectContaining({ name: 'EmbeddingError', code: 'misconfigured', retryable: false }),
    );
  });
});
