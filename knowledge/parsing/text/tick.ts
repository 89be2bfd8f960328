/** Writes a check box the same way for every format: the box itself, so that a list of choices keeps which of them are made. */
export function tick(isChecked: boolean): string {
  return isChecked ? '☑ ' : '☐ ';
}
