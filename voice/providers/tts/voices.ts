/**
 * ElevenLabs and Cartesia take voices by id only: a name is looked up in the account's voices.
 * https://elevenlabs.io/docs/api-reference/voices/search, https://docs.cartesia.ai/api-reference/voices/list
 */
import { toCallFailure, type ProviderEndpoint, type ProviderFetch } from '../../../calls/provider-access/index.ts';
import type { Clock } from '../../../platform/clock.ts';
import { AccountMemory } from '../account-memory.ts';
import { cartesiaApi, elevenLabsApi } from '../protocol-support.ts';

/** The way in which a provider lists the voices of an account. */
export interface VoiceDirectory {
  /** Name of the voice, as the agent has it. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Fields of the list in an answer, and in it of a voice's id. */
  readonly fields: { readonly list: string; readonly id: string };
  /** Matches an id, whatever the agent calls it. */
  readonly id: RegExp;
}

export function elevenLabsVoices(endpoint: ProviderEndpoint, name: string): VoiceDirectory {
  const { baseURL, headers } = elevenLabsApi(endpoint);
  return {
    name,
    url: `${baseURL.replace(/\/v1$/, '/v2')}/voices?${new URLSearchParams({ search: name, page_size: '100' }).toString()}`,
    headers,
    fields: { list: 'voices', id: 'voice_id' },
    id: /^[a-z0-9]{20}$/i,
  };
}

export function cartesiaVoices(endpoint: ProviderEndpoint, name: string): VoiceDirectory {
  const { baseURL, headers } = cartesiaApi(endpoint);
  return {
    name,
    url: `${baseURL}/voices?${new URLSearchParams({ q: name, limit: '100' }).toString()}`,
    headers,
    fields: { list: 'data', id: 'id' },
    id: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  };
}

/** Most names of voices shown in a message. */
const SHOWN = 8;

export interface VoiceLookupOptions {
  readonly endpoint: ProviderEndpoint;
  readonly directory: VoiceDirectory;
  readonly fetch: ProviderFetch;
  readonly clock: Clock;
}

const known = new AccountMemory<string>();

/**
 * Returns the id of the voice that the agent names, kept for ten minutes.
 * @throws ProviderError `refused` where no voice of the account has that name
 */
export async function voiceIdOf({ endpoint, directory, fetch, clock }: VoiceLookupOptions): Promise<string> {
  const { name } = directory;
  if (directory.id.test(name)) return name;
  const found = known.get(directory, clock);
  if (found !== undefined) return found;
  const response = await fetch(directory.url, { headers: directory.headers });
  const voices = voicesIn(await response.text(), directory);
  if (voices === undefined) throw toCallFailure(endpoint, 'payload', 'sent something that is no list of voices: check its address');
  const id = pick(voices, name);
  if (id === undefined) throw toCallFailure(endpoint, 'refused', withoutVoice(name, voices));
  known.set(directory, id, clock);
  return id;
}

interface Voice {
  readonly id: string;
  readonly name: string;
}

function voicesIn(text: string, { fields }: VoiceDirectory): readonly Voice[] | undefined {
  try {
    const list = (JSON.parse(text) as Readonly<Record<string, unknown>>)[fields.list];
    if (!Array.isArray(list)) return undefined;
    return (list as readonly Readonly<Record<string, unknown>>[]).flatMap((voice) => {
      const { name, [fields.id]: id } = voice;
      return typeof id === 'string' && typeof name === 'string' ? [{ id, name }] : [];
    });
  } catch {
    return undefined;
  }
}

/**
 * Picks a voice by its name as it is, else regardless of case, else as the beginning of a longer one: "Rachel" of "Rachel - calm". The
 * oldest of several.
 */
function pick(voices: readonly Voice[], name: string): string | undefined {
  const wanted = name.trim().toLowerCase();
  const exact = voices.find((voice) => voice.name === name) ?? voices.find((voice) => voice.name.trim().toLowerCase() === wanted);
  return (exact ?? voices.find((voice) => voice.name.toLowerCase().startsWith(`${wanted} `)))?.id;
}

function withoutVoice(name: string, voices: readonly Voice[]): string {
  const others = voices.slice(0, SHOWN).map((voice) => `"${voice.name}"`);
  const like = others.length === 0 ? '' : ` (it has ${others.join(', ')})`;
  return `has no voice called "${name}"${like}: set textToSpeech.voice.id (voice_id in REST) to the id of a voice of the account`;
}
