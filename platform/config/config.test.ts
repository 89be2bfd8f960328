import { describe, expect, it } from 'vitest';

import { configEntries, ConfigError, loadConfig } from './config.ts';

describe('loadConfig', () => {
  it('fills in defaults and treats empty variables as absent', () => {
    const config = loadConfig({ PARLEY_API_PORT: '', TEMPORAL_ADDRESS: 'temporal:7233' });
    expect(config).toMatchObject({ PARLEY_API_PORT: 8080, TEMPORAL_ADDRESS: 'temporal:7233', PARLEY_LEADER_ELECTION: true });
    expect(config.PARLEY_EMBEDDING_PROFILES).toEqual([{ name: 'default', provider: 'lexical', model: 'bm25', dimension: 0 }]);
  });

  it('names every bad variable with what is allowed, in one error', () => {
    const attempt = () =>
      loadConfig({ PARLEY_API_PORT: '99999', PARLEY_LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://x', PARLEY_EMBEDDING_PROFILES: '{' });
    expect(attempt).toThrow(ConfigError);
    expect(attempt).toThrow(/PARLEY_API_PORT.*65535/);
    expect(attempt).toThrow(/PARLEY_LOG_LEVEL.*"info"/);
    expect(attempt).toThrow(/DATABASE_URL: must be a postgres:\/\/ address/);
    expect(attempt).toThrow(/PARLEY_EMBEDDING_PROFILES: must be a JSON array/);
  });

  it('says of a text where a number belongs what form is allowed', () => {
    const attempt = () => loadConfig({ PARLEY_API_PORT: 'abc', PARLEY_WORKER_PORT: '80.5', PARLEY_DATABASE_POOL: 'many' });
    expect(attempt).toThrow(/PARLEY_API_PORT: must be a port: a whole number from 0 to 65535\n/);
    expect(attempt).toThrow(/PARLEY_WORKER_PORT: must be a port: a whole number from 0 to 65535\n/);
    expect(attempt).toThrow(/PARLEY_DATABASE_POOL: must be a number\n/);
    expect(attempt).toThrow(/^(?!.*NaN)/s);
  });

  it.each([
    ['{"name":"openai"}', /PARLEY_PROVIDERS: /],
    [
      '[{"name":"openai","baseURL":"https://user:hunter2@host/v1"}]',
      /PARLEY_PROVIDERS\.0\.baseURL: must be without user, password, query and fragment/,
    ],
    ['[{"name":"openai","baseURL":"ftp://host/v1"}]', /PARLEY_PROVIDERS\.0\.baseURL/],
    ['[{"name":"openai","apiKeyEnv":"A","apiKeyFile":"/b"}]', /apiKeyEnv and apiKeyFile exclude each other/],
    ['[{"name":"openai","apiKey":"hunter2"}]', /PARLEY_PROVIDERS\.0/],
  ])('refuses providers like %s', (value, message) => {
    expect(() => loadConfig({ PARLEY_PROVIDERS: value })).toThrow(message);
    expect(() => loadConfig({ PARLEY_PROVIDERS: value })).toThrow(/^(?!.*hunter2)/s);
  });

  it('says what the judge of agent tests has to be like', () => {
    expect(loadConfig({ PARLEY_TEST_JUDGE: 'openai/gpt-5-mini' }).PARLEY_TEST_JUDGE).toBe('openai/gpt-5-mini');
    expect(loadConfig({}).PARLEY_TEST_JUDGE).toBeUndefined();
    expect(() => loadConfig({ PARLEY_TEST_JUDGE: 'gpt-5-mini' })).toThrow(/PARLEY_TEST_JUDGE: must be provider\/model/);
  });

  it('says what the address of a collector has to be like', () => {
    expect(() => loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' })).toThrow(
      /ENDPOINT: must be an http:\/\/ or https:\/\/ address/,
    );
    expect(() => loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:hunter2@collector' })).toThrow(
      /^(?!.*hunter2).*OTEL_EXPORTER_OTLP_HEADERS/s,
    );
    expect(() => loadConfig({ OTEL_TRACES_SAMPLER_ARG: '2' })).toThrow(/must be a number from 0 to 1/);
  });

  it('never repeats a bad value, which may hold a password', () => {
    expect(() => loadConfig({ DATABASE_URL: 'mysql://user:hunter2@host' })).toThrow(/^(?!.*hunter2)/s);
  });
});

describe('configEntries', () => {
  it('describes every variable and marks the ones that hold a password', () => {
    const entries = configEntries();
    expect(entries.every((entry) => entry.description.length > 10)).toBe(true);
    expect(entries.filter((entry) => entry.secret).map((entry) => entry.name)).toEqual([
      'PARLEY_METRICS_TOKEN',
      'DATABASE_URL',
      'PARLEY_NATIVE_TERMINATION_PASSWORD',
      'TEMPORAL_API_KEY',
      'VECTOR_STORE_URL',
      'LIVEKIT_API_SECRET',
      'PARLEY_SIGNING_SECRETS',
      'OTEL_EXPORTER_OTLP_HEADERS',
    ]);
  });
});
