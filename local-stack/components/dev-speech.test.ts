import { expect, it } from 'vitest';

import { loadConfig } from '../../platform/config/config.ts';
import { devProviders, devSpeechUrl } from './dev-speech.ts';

const providers = (own?: string) => loadConfig({ PARLEY_PROVIDERS: devProviders(devSpeechUrl(4100, 's3cret'), own) }).PARLEY_PROVIDERS;

it('leads every provider to dev-speech', () => {
  expect(providers().map(({ name }) => name)).toEqual(expect.arrayContaining(['openai', 'deepgram', 'elevenlabs', 'anthropic', 'azure']));
  expect(new Set(providers('').map(({ baseURL }) => baseURL))).toEqual(new Set(['http://127.0.0.1:4100/s3cret/v1']));
});

it('leaves alone what the person has set', () => {
  const own = providers('[{"name":"openai","apiKeyEnv":"OPENAI_API_KEY"},{"name":"mine","baseURL":"http://127.0.0.1:8000/v1"}]');
  expect(own.filter(({ name }) => name === 'openai')).toEqual([{ name: 'openai', apiKeyEnv: 'OPENAI_API_KEY' }]);
  expect(own).toContainEqual({ name: 'mine', baseURL: 'http://127.0.0.1:8000/v1' });
  expect(own).toContainEqual({ name: 'deepgram', baseURL: 'http://127.0.0.1:4100/s3cret/v1' });
});

it('hands on what it can not read, for the roles to say what is wrong with it', () => {
  expect(devProviders(devSpeechUrl(4100, 's3cret'), 'openai')).toBe('openai');
  expect(() => providers('{"name":"openai"}')).toThrow(/PARLEY_PROVIDERS/);
});
