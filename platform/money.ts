/** Converts exact amounts of money: they are texts outside, and whole millionths of the currency inside. */
const MILLION = 1_000_000n;

/** Matches an amount that is not negative, with 6 decimals at most. */
export const AMOUNT = /^\d{1,9}(\.\d{1,6})?$/;

/** @param amount a text that matches {@link AMOUNT} */
export function microsIn(amount: string): bigint {
  const [whole = '0', decimals = ''] = amount.split('.');
  return BigInt(whole) * MILLION + BigInt(decimals.padEnd(6, '0'));
}

/** Formats an amount with two decimals at least, and as many more as there are. */
export function amountOf(micros: bigint): string {
  const digits = String(micros).padStart(7, '0');
  return `${digits.slice(0, -6)}.${digits.slice(-6).replace(/0{1,4}$/, '')}`;
}
