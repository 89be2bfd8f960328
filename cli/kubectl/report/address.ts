/** Masks what may not be seen of an address. */
import { MASK } from '../../../platform/masking.ts';

/** The part of the redactor that masks a value and remembers it. */
interface Masks {
  secret(value: string): string;
  unknown(value: string): string;
}

/** A text that is an address and nothing else. */
export const ADDRESS_PATTERN = /^[a-z][a-z0-9+.-]*:\/\/\S+$/i;

/** Leaves host and shape, no user, password or values of the query, and of the path only words: many webhooks have their secret there. */
export function maskAddress(address: string, redactor: Masks): string {
  if (!URL.canParse(address)) return redactor.secret(address);
  const url = new URL(address);
  const path = url.pathname.split('/').map((part) => (isPlain(part) ? part : redactor.secret(decode(part))));
  for (const part of [url.password, ...url.searchParams.values()]) redactor.secret(decode(part));
  // A user name alone is a token; before a password it is a name.
  if (url.password === '') redactor.secret(decode(url.username));
  else redactor.unknown(decode(url.username));
  const query = [...url.searchParams.keys()].map((name) => `${name}=${MASK}`).join('&');
  const user = url.username === '' && url.password === '' ? '' : `${MASK}@`;
  return `${url.protocol}//${user}${url.host}${path.join('/')}${query === '' ? '' : `?${query}`}${url.hash === '' ? '' : `#${MASK}`}`;
}

/** Accepts `v1`, `v1beta2`, and pronounceable words: in lower case, of the length of words, and no five consonants in a row. */
function isPlain(part: string): boolean {
  if (part === '' || /^v\d+([a-z]+\d+)?$/.test(part)) return true;
  return part.length <= 24 && /^[a-z]{1,16}([-_][a-z]{1,16})*$/.test(part) && !/[b-df-hj-np-tv-xz]{5}/.test(part);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
