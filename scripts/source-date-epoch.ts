import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Returns SOURCE_DATE_EPOCH, else the time of the last commit: a rebuild of the same commit gives the same bytes. */
export async function sourceDateEpoch(root: string): Promise<number> {
  const given = process.env['SOURCE_DATE_EPOCH'];
  if (given !== undefined && /^\d+$/.test(given)) return Number(given);
  try {
    return Number((await promisify(execFile)('git', ['log', '-1', '--format=%ct'], { cwd: root })).stdout.trim());
  } catch {
    return 0;
  }
}
