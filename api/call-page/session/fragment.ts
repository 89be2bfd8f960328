/** The part of a link to the page behind its `#`: browsers keep it to themselves, so that no server and no proxy logs it. */
export interface Fragment {
  readonly key: string | undefined;
  readonly agent: string | undefined;
}

/** @param hash the fragment of a location, with or without `#` */
export function readFragment(hash: string): Fragment {
  const values = new URLSearchParams(hash.replace(/^#/, ''));
  const of = (name: string): string | undefined => values.get(name)?.trim() || undefined;
  return { key: of('key'), agent: of('agent') };
}
