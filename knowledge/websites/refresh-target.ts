/** Finds the target of pages that send a browser on to another one instead of redirecting it. */

/** Bytes at the beginning of a page in which the element stands. */
const HEAD_BYTES = 8192;
/** Most seconds of delay: a page that is left later is meant to be read. */
const LONGEST_DELAY = 5;

/** @returns the address in `<meta http-equiv="refresh" content="0; url=…">`; undefined for a page that stays, or shows itself again */
export function refreshTarget(body: Buffer, page: URL): string | undefined {
  const head = body.toString('latin1', 0, HEAD_BYTES).replaceAll(/<!--[^]*?-->|<noscript\b[^]*?<\/noscript>/gi, '');
  const tag = head.match(/<meta\b[^<>]*>/gi)?.find((meta) => /http-equiv\s*=\s*["']?refresh\b/i.test(meta));
  const content = /\bcontent\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(tag ?? '');
  const [, delay = '', address = ''] =
    /^\s*(\d+)(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?["']?([^"']+?)["']?\s*$/i.exec(content?.[1] ?? content?.[2] ?? '') ?? [];
  if (address === '' || Number(delay) > LONGEST_DELAY) return undefined;
  const target = URL.parse(address.replaceAll('&amp;', '&'), page.href);
  if (target === null) return undefined;
  target.hash = '';
  return target.href === page.href ? undefined : target.href;
}
