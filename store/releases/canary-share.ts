import { createHash } from 'node:crypto';

/**
 * Returns a call's place among all calls, from 0 to below 100: the calls below the percent of a canary are its calls. It depends on the id
 * alone, so that everything that creates calls chooses alike, and a call that is looked at twice is chosen once.
 */
export function canaryShareOf(callId: string): number {
  return (createHash('sha256').update(callId).digest().readUInt32BE(0) / 2 ** 32) * 100;
}
