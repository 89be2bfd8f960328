/** Says which machine a figure comes from, and whether it was left alone while it was measured. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { promisify } from 'node:util';

export interface MachineFacts {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly os: string;
  readonly kernel: string;
  readonly node: string;
  /** `go version`'s number; undefined where there is no Go. */
  readonly go: string | undefined;
}

export async function machineFacts(): Promise<MachineFacts> {
  const run = promisify(execFile);
  const goVersion = await run('go', ['version']).then(
    ({ stdout }) => /go\d\S*/.exec(stdout)?.[0],
    () => undefined,
  );
  const osRelease = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    os: /^PRETTY_NAME="?([^"\n]+)/m.exec(osRelease)?.[1] ?? type(),
    kernel: release(),
    node: process.version,
    go: goVersion,
  };
}

/** CPU time since boot, summed over all cores, in clock ticks. */
export interface CpuTimes {
  readonly total: number;
  readonly idle: number;
  /** Ticks in which this machine was ready to run and the host ran something else. */
  readonly steal: number;
}

/** Reads the `cpu` line of `/proc/stat`: user nice system idle iowait irq softirq steal (guest times are inside user and nice). */
export function parseCpuTimes(procStat: string): CpuTimes | undefined {
  const line = /^cpu\s+(.+)$/m.exec(procStat)?.[1];
  if (line === undefined) return undefined;
  const ticks = line.trim().split(/\s+/).slice(0, 8).map(Number);
  const [, , , idle = 0, iowait = 0, , , steal = 0] = ticks;
  return { total: ticks.reduce((sum, value) => sum + value, 0), idle: idle + iowait, steal };
}

export interface CpuShares {
  /** Share of time that the host took away, 0 to 1. */
  readonly steal: number;
  /** Share of time that was left over, 0 to 1. */
  readonly idle: number;
}

export function cpuShares(before: CpuTimes, after: CpuTimes): CpuShares {
  const total = after.total - before.total;
  return total <= 0 ? { steal: 0, idle: 1 } : { steal: (after.steal - before.steal) / total, idle: (after.idle - before.idle) / total };
}

/** Shows how the machine fared over a run. Where there is no `/proc` (not Linux) the shares are undefined. */
export interface Disturbance {
  readonly stealShare: number | undefined;
  readonly idleShare: number | undefined;
  /** The one-minute load average before the run began: above about 0.2 somebody else was at work. */
  readonly loadBefore: number;
}

/** Begins to watch; the returned function reports what has happened since. */
export async function watchMachine(): Promise<() => Promise<Disturbance>> {
  const loadBefore = loadavg()[0] ?? Number.NaN;
  const before = await readCpuTimes();
  return async () => {
    const after = await readCpuTimes();
    const shares = before && after && cpuShares(before, after);
    return { stealShare: shares?.steal, idleShare: shares?.idle, loadBefore };
  };
}

async function readCpuTimes(): Promise<CpuTimes | undefined> {
  return parseCpuTimes(await readFile('/proc/stat', 'utf8').catch(() => ''));
}
