/** `metav1.MicroTime`: RFC 3339 with exactly six decimals, which the server insists on. `ms` since the Unix epoch. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace(/Z$/, '000Z');
}
