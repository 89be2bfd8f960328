/** Where the operator's folders look for it. */
export { canonicalJson, memoizeCanonicalJson, sha256 } from '../../platform/canonical-json.ts';
