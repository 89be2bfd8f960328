import { beforeEach, describe, expect, it } from 'vitest';

import type { ProviderEndpoint } from '../../../calls/provider-access/index.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { voicesOf } from '../provider-table.ts';
import { voiceIdOf } from './voices.ts';

const RACHEL = '21m00Tcm4TlvDq8ikWAM';
const KATIE = 'f786b574-daa5-4673-aa0c-cbe3e8534c02';

let clock: FakeClock;
let asked: { readonly url: string; readonly headers: Readonly<Record<string, string>> }[];
let answer: string;
let accounts = 0;

beforeEach(() => {
  clock = new FakeClock();
  asked = [];
  accounts += 1;
});

function endpoint(provider: string, voice: string, more: Partial<ProviderEndpoint> = {}) {
  // Each test has a key of its own: facts about an account are kept.
  return { part: 'tts', provider, protocol: 'own', guarded: false, apiKey: `key-${accounts}`, voice, voiceIsName: true, ...more } as const;
}

async function idOf(wanted: ProviderEndpoint): Promise<string | undefined> {
  const directory = voicesOf(wanted);
  if (directory === undefined) return wanted.voice;
  const fetch = async (url: string | URL, { headers = {} } = {}): Promise<Response> => {
    asked.push({ url: String(url), headers });
    return new Response(answer);
  };
  return voiceIdOf({ endpoint: wanted, directory, fetch, clock });
}

const elevenLabs = (...names: string[]): string =>
  JSON.stringify({ voices: names.map((name, index) => ({ voice_id: `id-${index}`, name })), has_more: false });

describe('the id of a voice', () => {
  it("is looked up among ElevenLabs' voices, once in ten minutes for each account", async () => {
    answer = elevenLabs('Sarah', 'Rachel');
    expect(await idOf(endpoint('elevenlabs', 'Rachel'))).toBe('id-1');
    expect(asked).toEqual([
      { url: 'https://api.elevenlabs.io/v2/voices?search=Rachel&page_size=100', headers: { 'xi-api-key': `key-${accounts}` } },
    ]);
    expect(await idOf(endpoint('elevenlabs', 'Rachel'))).toBe('id-1');
    expect(asked).toHaveLength(1);
    await idOf(endpoint('elevenlabs', 'Rachel', { apiKey: `other-${accounts}` }));
    expect(asked).toHaveLength(2);
    clock.tick(600_001);
    await idOf(endpoint('elevenlabs', 'Rachel'));
    expect(asked).toHaveLength(3);
  });

  it("is looked up among Cartesia's voices", async () => {
    answer = JSON.stringify({ data: [{ id: KATIE, name: 'Katie - Friendly Fixer' }], has_more: false });
    expect(await idOf(endpoint('cartesia', 'katie'))).toBe(KATIE);
    expect(asked[0]?.url).toBe('https://api.cartesia.ai/voices?q=katie&limit=100');
  });

  it.each([
    ['Anna', ['anna', 'Anna'], 'id-1'],
    ['ANNA', ['Annabel', 'anna'], 'id-1'],
    ['Anna', ['Annabel', 'Anna - calm'], 'id-1'],
  ])('is that of the voice whose name is most like %s', async (name, names, id) => {
    answer = elevenLabs(...names);
    expect(await idOf(endpoint('elevenlabs', name))).toBe(id);
  });

  it('is taken as it is where the name is one, and where the provider takes names', async () => {
    expect(await idOf(endpoint('elevenlabs', RACHEL))).toBe(RACHEL);
    expect(await idOf(endpoint('cartesia', KATIE))).toBe(KATIE);
    expect(await idOf(endpoint('azure', 'de-AT-IngridNeural'))).toBe('de-AT-IngridNeural');
    expect(await idOf(endpoint('elevenlabs', 'alloy', { protocol: 'openai' }))).toBe('alloy');
    expect(asked).toEqual([]);
  });

  it('is missing, with what there is and what to do', async () => {
    answer = elevenLabs('Sarah', 'Will');
    await expect(idOf(endpoint('elevenlabs', 'Rachel'))).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/has no voice called "Rachel" \(it has "Sarah", "Will"\): set textToSpeech\.voice\.id/),
    });
    answer = '<html>';
    await expect(idOf(endpoint('elevenlabs', 'Rachel'))).rejects.toMatchObject({ kind: 'payload' });
  });
});
