/** The part of a link to `/calls` behind its `#`: a call, and perhaps a key, which no server sees there. */
export interface CallsFragment {
  readonly call: string | undefined;
  readonly key: string | undefined;
}

/** @param hash `#call_…`, `#key=…` or `#call_…&key=…` */
export function readCallsFragment(hash: string): CallsFragment {
  const [first = '', ...rest] = hash.replace(/^#/, '').split('&');
  const isCall = /^call_[\w-]+$/.test(first);
  const values = new URLSearchParams((isCall ? rest : [first, ...rest]).join('&'));
  return { call: isCall ? first : undefined, key: values.get('key')?.trim() || undefined };
}
