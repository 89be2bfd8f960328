/** What a link to the page may bring behind its `#`: browsers keep that to themselves, so that no server and no proxy logs it. */
export interface Fragment {
  readonly key: string | undefined;
  readonly agent: string | undefined;
}

/** @param hash of a location, with or without `#` */
export function readFragment(hash: string): Fragment {
  const values = new URLSearchParams(hash.replace(/^#/, ''));
  const of = (name: string): string | undefined => values.get(name)?.trim() || undefined;
  return { key: of('key'), agent: of('agent') };
}
