/** Checks whether the servers have the same time: one clock judges tokens, signatures and leases of another. */
import { type Finding, findingsOf } from './finding.ts';
import type { ClockReading } from './postgres.ts';

/** Smallest difference that is worth knowing, in milliseconds; Kubernetes answers whole seconds. */
const WORTH_KNOWING = 2_000;
const TOO_MUCH = 30_000;

export function checkClocks(readings: readonly ClockReading[]): Finding {
  const clocks = findingsOf('clocks');
  if (readings.length === 0) return clocks.warn('no server answered its time');
  const skews = readings.map((reading) => ({ of: reading.of, ms: skewOf(reading) }));
  const worst = skews.reduce((a, b) => (Math.abs(b.ms) > Math.abs(a.ms) ? b : a));
  const detail = skews
    .map(({ of, ms }) => `${of} ${ms === 0 ? 'has the same time' : `is ${describe(Math.abs(ms))} ${ms > 0 ? 'ahead' : 'behind'}`}`)
    .join(', ');
  const cure = `set the clocks by NTP (chrony, systemd-timesyncd), this machine's and that of ${worst.of}`;
  if (Math.abs(worst.ms) >= TOO_MUCH) return clocks.fail(detail, cure);
  return Math.abs(worst.ms) >= WORTH_KNOWING ? clocks.warn(detail, cure) : clocks.ok(detail);
}

/** Returns how far the server's clock is ahead of this machine's, in milliseconds; 0 within the precision of the reading. */
function skewOf({ at, asked, answered, step }: ClockReading): number {
  if (at > answered) return Math.round(at - answered);
  if (at + step < asked) return Math.round(at + step - asked);
  return 0;
}

function describe(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : ms < 120_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} minutes`;
}
