import type { Problem } from './limits.ts';

const placeholder = /\{+[^{}]*\}+/g;

/**
 * An http(s) address that can be called: its host is one, once the placeholders in it are filled. Credentials are refused, because
 * specs are shown and kept in the clear. What follows the host may be anything.
 */
export function httpAddress(address: string | undefined, path: string): readonly Problem[] {
  const authority = /^https?:\/\/([^/?#]*)/.exec(address ?? '')?.[1];
  // What has another beginning is refused by the resource's own schema.
  if (address === undefined || authority === undefined) return [];
  if (authority.includes('@')) {
    return [{ path, message: 'holds a user name or password, which anybody could read here; send credentials in a header' }];
  }
  const filled = authority.replaceAll(/:\{+[^{}]*\}+/g, ':80').replaceAll(placeholder, 'x');
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
