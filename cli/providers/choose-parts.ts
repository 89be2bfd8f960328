/** Decides which of the named providers is which part of the agent. */
import { PART_NAMES, type ProviderPart } from '../../calls/provider-access/index.ts';
import { UserError } from '../../platform/user-error.ts';
import { knownProvider, OFFLINE, PARTS, PROVIDER_NAMES, type ProviderName } from './catalogue.ts';

/** Flags of `parley dev`, as they were written. */
export interface ProviderFlags {
  readonly provider?: readonly string[];
  readonly model?: string;
  readonly baseUrl?: string;
}

export interface ChosenPart {
  readonly part: ProviderPart;
  readonly name: ProviderName;
  readonly baseURL: string;
  /** Language model; undefined where it is to be read from the server's list, and for speech. */
  readonly model?: string;
}

export type ProviderChoice = typeof OFFLINE | readonly ChosenPart[];

/** Of providers with as many parts, the first here has the part. */
const PREFERRED: Readonly<Partial<Record<ProviderPart, readonly ProviderName[]>>> = {
  stt: ['deepgram', 'elevenlabs', 'cartesia'],
  tts: ['elevenlabs', 'cartesia', 'deepgram'],
};

/** @returns undefined where the flags name no provider. @throws UserError for flags that don't fit together */
export function chooseParts({ provider = [], model, baseUrl }: ProviderFlags): ProviderChoice | undefined {
  const names = [...new Set(provider.flatMap((text) => text.split(',')).map((name) => name.trim().toLowerCase()))].filter(Boolean);
  const [first] = names;
  if (first === undefined) {
    const flag = model === undefined ? (baseUrl === undefined ? undefined : '--base-url') : '--model';
    if (flag === undefined && provider.length === 0) return undefined;
    throw new UserError(`${flag ?? '--provider'} needs a provider`, { cure: `add --provider with one of ${PROVIDER_NAMES.join(', ')}` });
  }
  if (names.includes(OFFLINE)) {
    if (names.length > 1 || model !== undefined || baseUrl !== undefined)
      throw new UserError(`--provider ${OFFLINE} takes every part back to the robot, and nothing else can be with it`, {
        cure: `parley dev --provider ${OFFLINE}`,
      });
    return OFFLINE;
  }
  const providers = names.map(providerName);
  if (baseUrl !== undefined) checkBaseUrl(baseUrl, providers);
  const parts = PARTS.flatMap((part) => {
    const name = providerOf(part, providers, baseUrl);
    if (name === undefined) return [];
    const address = baseUrl?.replace(/\/+$/, '') ?? addressOf(part, name);
    const wanted = part === 'llm' ? (model ?? knownProvider(name).model) : undefined;
    return { part, name, baseURL: address, ...(wanted !== undefined && { model: wanted }) };
  });
  if (model !== undefined && parts.every(({ part }) => part !== 'llm'))
    throw new UserError(`--model names a language model, and ${providers.join(', ')} has none`, {
      cure: 'leave it out, or add a provider with a language model, such as --provider openai',
    });
  const idle = providers.find((name) => parts.every((each) => each.name !== name));
  if (idle !== undefined) throw withoutPart(idle, parts);
  return parts;
}

function providerName(name: string): ProviderName {
  const found = PROVIDER_NAMES.find((each) => each === name);
  if (found !== undefined) return found;
  const cure =
    name === 'azure'
      ? 'Azure has an address for each region and part: set spec.speechToText and spec.textToSpeech of the agent, as docs/calls/providers.md shows'
      : `use ${PROVIDER_NAMES.join(', ')}, or ${OFFLINE}`;
  throw new UserError(`there is no provider ${name}`, { cure });
}

function checkBaseUrl(baseUrl: string, providers: readonly ProviderName[]): void {
  if (providers.length > 1)
    throw new UserError(`--base-url is the address of one provider, and there are ${providers.length}`, {
      cure: 'run the command for each provider: what another one has switched stays',
    });
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UserError(`--base-url ${baseUrl} is no address of a server`, { cure: 'write it like http://127.0.0.1:8000/v1' });
  if (url.username !== '' || url.password !== '')
    throw new UserError('--base-url has a name or a password in it, which would be kept in the agent for all to read', {
      cure: 'leave them out: keys come from the environment, or are asked for',
    });
}

/** Returns the provider that does least else, so that each one that is named has a part where that is possible. */
function providerOf(part: ProviderPart, providers: readonly ProviderName[], baseUrl: string | undefined): ProviderName | undefined {
  const able = providers.filter((name) => partsOf(name, baseUrl).includes(part));
  const rank = (name: ProviderName): number => {
    const at = PREFERRED[part]?.indexOf(name) ?? -1;
    return partsOf(name, baseUrl).length * 10 + (at < 0 ? 9 : at);
  };
  return able.toSorted((one, other) => rank(one) - rank(other))[0];
}

/** An address in place of the provider's own is for one API: where the parts have different ones it is that of the language model. */
function partsOf(name: ProviderName, baseUrl: string | undefined): readonly ProviderPart[] {
  const { addresses } = knownProvider(name);
  const parts = PARTS.filter((part) => addresses[part] !== undefined);
  return baseUrl !== undefined && new Set(Object.values(addresses)).size > 1 ? ['llm'] : parts;
}

function addressOf(part: ProviderPart, name: ProviderName): string {
  const address = knownProvider(name).addresses[part];
  if (typeof address === 'string') return address;
  throw new UserError(`${name} has no address of its own`, {
    cure: 'add --base-url with that of your server, such as http://127.0.0.1:8000/v1',
  });
}

function withoutPart(idle: ProviderName, parts: readonly ChosenPart[]): UserError {
  const taken = parts.map(({ part, name }) => `${name} is the ${PART_NAMES[part]}`).join(', ');
  return new UserError(`${idle} would have nothing to do: ${taken}`, { cure: `leave out ${idle}, or what has its part` });
}
