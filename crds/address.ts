import type { SpecProblem } from './spec-problem.ts';

/** Matches from the first brace of several: from each, a long row of them would be read once for each. */
const PLACEHOLDER = /(?<!\{)\{+[^{}]*\}+/g;

/** Puts something in place of each placeholder. */
export const filledAddress = (address: string): string => address.replaceAll(PLACEHOLDER, 'x');

/**
 * Checks that an http(s) address can be called: its host is one, once the placeholders in it are filled. Credentials are refused, because
 * specs are shown and kept in the clear. The rest of the address may be anything.
 */
export function httpAddress(address: string | undefined, path: string): readonly SpecProblem[] {
  const authority = /^https?:\/\/([^/?#]*)/.exec(address ?? '')?.[1];
  // The resource's own schema refuses other beginnings.
  if (address === undefined || authority === undefined) return [];
  if (authority.includes('@')) {
    return [{ path, message: 'holds a user name or password, which anybody could read here; send credentials in a header' }];
  }
  const filled = filledAddress(authority.replaceAll(/:\{+[^{}]*\}+/g, ':80'));
  // URL parsers differ over backslashes and white space: to some of them the host ends there.
  const sound = !/[\s\\]/.test(authority) && filled !== '' && URL.canParse(`http://${filled}/`);
  return sound
    ? []
    : [
        {
          path,
          message: 'is not an address that can be called: after http:// or https:// a host is needed, as in https://example.com/path',
        },
      ];
}

/**
 * Returns scheme, host and port of an http(s) address in one spelling: they decide where a secret goes. With a placeholder in them they
 * stay as they are written: two such addresses have one origin only where they have one text.
 */
export function originOf(address: string): string {
  const [, scheme = '', authority = ''] = split(address);
  if (/[{}]/.test(authority)) return `${scheme.toLowerCase()}://${authority}`;
  return URL.parse(address)?.origin ?? address;
}

/** True if a placeholder decides which server is called: it stands elsewhere than before a domain that is written out (`.example.com`). */
export function hasOpenHost(address: string): boolean {
  const [, , authority = ''] = split(address);
  return /[{}]/.test(authority) && !/\.[^.{}:]+\.[^.{}:]+(:\d+)?$/.test(authority);
}

/** Says what is wrong with {@link hasOpenHost} where a Secret's value is sent along. */
export const OPEN_HOST_MESSAGE =
  'has a placeholder that decides its host, and would get a value from a Secret: write the domain out, as in https://{{region}}.example.com, or send no secret header';

/** A call's data, and a model's words, must not decide who gets a Secret's value. */
export function closedHost(
  address: string,
  headers: readonly { readonly valueFrom?: unknown }[] | undefined,
  path: string,
): readonly SpecProblem[] {
  const secret = (headers ?? []).some(({ valueFrom }) => valueFrom !== undefined);
  return secret && hasOpenHost(address) ? [{ path, message: OPEN_HOST_MESSAGE }] : [];
}

/** `{{name}}` before `{name}`. Other text in single braces is no name: `{"a":1}`. */
export const EITHER_PLACEHOLDER = /\{\{([^{}]+)\}\}|\{(\s*[\p{L}\p{N}_.$-]+\s*)\}/gu;

/** Returns the names in single braces, each once: a tool's arguments in its address. */
export function argumentNamesIn(text: string): readonly string[] {
  const names = Array.from(text.matchAll(EITHER_PLACEHOLDER), ([, , name]) => name?.trim());
  return [...new Set(names.filter((name) => name !== undefined))];
}

function split(address: string): readonly string[] {
  return /^(https?):\/\/([^/?#]*)/i.exec(address) ?? [];
}
