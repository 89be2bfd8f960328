/** An answer shows this in place of a secret. Sent back in an update it means "unchanged". */
export const MASK = '********';

/**
 * Masks the secret parts of an address: the password and the values of query parameters. A text that is no address becomes the mask
 * altogether, because nothing is known about its parts.
 */
export function maskUrl(address: string): string {
  if (!URL.canParse(address)) return MASK;
  const url = new URL(address);
  if (url.password !== '') url.password = MASK;
  for (const name of url.searchParams.keys()) url.searchParams.set(name, MASK);
  return url.href;
}
