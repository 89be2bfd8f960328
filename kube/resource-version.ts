/**
 * Orders two resourceVersions of one API server.
 *
 * They are decimal integers that outgrow neither each other's meaning nor a double by promise, so they are compared as big integers.
 * The API has promised that order for all built-in and custom resources since 1.35 (KEP-5504); every etcd-backed server has always kept it.
 *
 * @returns a negative number, zero or a positive number, as for `Array.prototype.sort`.
 * @throws RangeError when one of them is not a decimal integer.
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a === b) return 0;
  const [left, right] = [parse(a), parse(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Whether {@link compareResourceVersions} can order it. */
export function isOrderable(resourceVersion: string): boolean {
  return /^\d{1,40}$/.test(resourceVersion);
}

function parse(resourceVersion: string): bigint {
  if (!isOrderable(resourceVersion))
    throw new RangeError(
      `resourceVersion ${JSON.stringify(resourceVersion.slice(0, 50))} is not a decimal integer; only the API server's own values can be compared`,
    );
  return BigInt(resourceVersion);
}
