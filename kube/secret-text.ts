/**
 * The text of a Secret's value, without the line break at its end that editors and `kubectl create secret --from-file` leave there.
 *
 * @param value - in base64
 */
export function secretText(value: string): string {
  return Buffer.from(value, 'base64')
    .toString()
    .replace(/\r?\n$/, '');
}
