/** `metav1.Time`: RFC 3339 in whole seconds. A number is milliseconds since the Unix epoch. */
export function timestamp(time: Date | number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** `metav1.MicroTime`: RFC 3339 with exactly six decimals, which the server insists on. `ms` since the Unix epoch. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace(/Z$/, '000Z');
}
