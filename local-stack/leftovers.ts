import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { commandLine, waitForExit } from './processes.ts';

/**
 * Ends parts that outlived their supervisor, so that a new one can have their data and ports. A process counts as one
 * of them only when its command line is the very one that was started: numbers are used again.
 */
export async function endLeftovers(runDir: string): Promise<readonly string[]> {
  const ended: string[] = [];
  const files = existsSync(runDir) ? readdirSync(runDir).filter((name) => name.endsWith('.pid')) : [];
  await Promise.all(
    files.map(async (file) => {
      const part = file.slice(0, -'.pid'.length);
      const pid = Number.parseInt(readFileSync(join(runDir, file), 'utf8'), 10);
      const expected = readIfThere(join(runDir, `${part}.command`));
      if (Number.isInteger(pid) && expected !== undefined && (await commandLine(pid)) === expected) {
        process.kill(pid, part === 'postgres' ? 'SIGINT' : 'SIGTERM');
        if (!(await waitForExit(pid, 10_000))) process.kill(pid, 'SIGKILL');
        await waitForExit(pid, 5_000);
        ended.push(part);
      }
      rmSync(join(runDir, file), { force: true });
    }),
  );
  return ended;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}
