import { describe, expect, it } from 'vitest';

import { llmProviders, speechProviders } from '../../crds/providers.ts';
import { sttProtocolOf, sttStreamingOf, ttsProtocolOf, ttsStreamingOf } from '../../voice/providers/provider-table.ts';
import { knownProvider, PROVIDER_NAMES } from './catalogue.ts';
import { chooseParts, type ProviderFlags } from './choose-parts.ts';

const chosen = (provider: string, more: Omit<ProviderFlags, 'provider'> = {}): string => {
  const parts = chooseParts({ provider: provider.split(' '), ...more });
  return typeof parts === 'string' || parts === undefined ? String(parts) : parts.map(({ part, name }) => `${part} ${name}`).join(', ');
};

it.each([
  ['openai', 'llm openai, stt openai, tts openai'],
  ['openai,deepgram,elevenlabs', 'llm openai, stt deepgram, tts elevenlabs'],
  ['openai deepgram elevenlabs', 'llm openai, stt deepgram, tts elevenlabs'],
  ['elevenlabs, deepgram,openai', 'llm openai, stt deepgram, tts elevenlabs'],
  ['deepgram', 'stt deepgram, tts deepgram'],
  ['anthropic,openai', 'llm anthropic, stt openai, tts openai'],
  ['openai,anthropic', 'llm anthropic, stt openai, tts openai'],
  ['groq,cartesia', 'llm groq, stt cartesia, tts cartesia'],
  ['google,assemblyai', 'llm google, stt assemblyai, tts google'],
  ['ollama', 'llm ollama'],
  ['OpenAI,openai', 'llm openai, stt openai, tts openai'],
  ['offline', 'offline'],
])('%s: %s', (provider, parts) => {
  expect(chosen(provider)).toBe(parts);
});

it('takes an address for a server of one API, without the slash at its end, and the model', () => {
  const baseUrl = 'http://127.0.0.1:8000/v1/';
  expect(chooseParts({ provider: ['openai_compatible'], baseUrl, model: 'qwen3' })).toEqual([
    { part: 'llm', name: 'openai_compatible', baseURL: 'http://127.0.0.1:8000/v1', model: 'qwen3' },
    { part: 'stt', name: 'openai_compatible', baseURL: 'http://127.0.0.1:8000/v1' },
    { part: 'tts', name: 'openai_compatible', baseURL: 'http://127.0.0.1:8000/v1' },
  ]);
  // Google's speech is at other addresses than its models.
  expect(chosen('google', { baseUrl })).toBe('llm google');
});

it('names no provider', () => {
  expect(chooseParts({})).toBeUndefined();
});

it.each<[ProviderFlags, RegExp, RegExp]>([
  [{ provider: ['openaj'] }, /there is no provider openaj/, /use openai, anthropic/],
  [{ provider: ['azure'] }, /there is no provider azure/, /docs\/calls\/providers\.md/],
  [{ provider: [''] }, /--provider needs a provider/, /openai/],
  [{ model: 'gpt-4o' }, /--model needs a provider/, /--provider/],
  [{ baseUrl: 'http://x' }, /--base-url needs a provider/, /--provider/],
  [{ provider: ['offline', 'openai'] }, /offline takes every part back/, /--provider offline/],
  [{ provider: ['openai_compatible'] }, /openai_compatible has no address/, /--base-url/],
  [{ provider: ['openai', 'deepgram'], baseUrl: 'http://x' }, /one provider, and there are 2/, /for each provider/],
  [{ provider: ['openai'], baseUrl: 'api.openai.com' }, /no address of a server/, /http:\/\//],
  [{ provider: ['openai'], baseUrl: 'https://me:secret@x/v1' }, /a name or a password/, /leave them out/],
  [{ provider: ['deepgram'], model: 'nova-3' }, /--model names a language model, and deepgram has none/, /leave it out/],
  [{ provider: ['anthropic', 'groq'] }, /groq would have nothing to do: anthropic is the language model/, /leave out groq/],
])('refuses %j', (flags, message, cure) => {
  expect(() => chooseParts(flags)).toThrow(
    expect.objectContaining({ message: expect.stringMatching(message), cure: expect.stringMatching(cure) }),
  );
});

it('knows every provider of specs but one whose parts have addresses of their own, in each region', () => {
  const known = new Set<string>(PROVIDER_NAMES.map((name) => knownProvider(name).provider));
  expect([...new Set<string>([...llmProviders, ...speechProviders])].filter((name) => !known.has(name))).toEqual(['azure']);
});

describe('the addresses of speech', () => {
  const endpointOf = (part: 'stt' | 'tts', provider: string) => ({ part, provider, protocol: 'own', guarded: true, apiKey: 'k' }) as const;

  it.each(PROVIDER_NAMES.filter((name) => !['openai', 'openai_compatible'].includes(name)))('of %s are those that calls use', (name) => {
    const { provider, addresses } = knownProvider(name);
    if (typeof addresses.stt === 'string') {
      const settings = { endpoint: endpointOf('stt', provider), language: 'en-US' };
      const url = sttStreamingOf(settings)?.url ?? sttProtocolOf(settings).requestFor(new Uint8Array()).url;
      expect(url.replace(/^ws/, 'http')).toMatch(new RegExp(`^${addresses.stt.replaceAll('.', String.raw`\.`)}/`));
    }
    if (typeof addresses.tts === 'string') {
      const settings = { endpoint: endpointOf('tts', provider), language: 'en-US', temperature: 0.5 };
      const url = ttsStreamingOf(settings)?.url ?? ttsProtocolOf(settings).requestFor('Hello.').url;
      expect(url.replace(/^ws/, 'http')).toMatch(new RegExp(`^${addresses.tts.replaceAll('.', String.raw`\.`)}/`));
    }
  });
});
