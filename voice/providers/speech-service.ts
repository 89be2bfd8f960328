/** What hearing and speaking have in common. */
import { partNames, ProviderFailure, type ProviderEndpoint, type ProviderPart } from '../calls/providers/index.ts';

/** `de` of `de-AT`. */
export const baseLanguage = (language: string): string => language.split('-')[0]!.toLowerCase();

export function unknownService({ provider }: Pick<ProviderEndpoint, 'provider'>, part: ProviderPart): ProviderFailure {
  return new ProviderFailure({
    part,
    kind: 'refused',
    provider,
    message: `${provider} (${partNames[part]}) is not known here: use openai_compatible with its address, or an entry in PARLEY_PROVIDERS`,
  });
}
