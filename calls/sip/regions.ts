/** The regions in which calls enter the network, each with its country (ISO 3166); `global` is anywhere. */
const countries = { global: '', bd: 'BD', bd_link3: 'BD' } as const;

type SipRegion = keyof typeof countries;

export const sipRegions = Object.keys(countries) as [SipRegion, ...SipRegion[]];

/** @returns undefined for a region that this version doesn't know */
export function countryOf(region: string): string | undefined {
  return Object.hasOwn(countries, region) ? countries[region as SipRegion] : undefined;
}
