/** Runs `parley test --watch`: after each change of a file, the tests that it can affect. */
import { basename, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { watch } from 'chokidar';

import { canonicalJson, sha256 } from '../../platform/canonical-json.ts';
import { UserError } from '../../platform/user-error.ts';
import { isLeftOut, isYaml } from '../agent-files/documents.ts';
import { agentKey, type Workspace } from '../agent-files/workspace.ts';
import type { Io } from '../kubectl/io.ts';
import type { TestCommand } from './run-command.ts';
import type { Pair } from './run-workspace.ts';

/** Editors write a file in several steps, in milliseconds. */
const SETTLE_MS = 50;

/** Runs all tests, then those that a change affects, until the signal aborts. */
export async function watchTests(
  command: TestCommand,
  paths: readonly string[],
  { err, signal }: Pick<Io, 'err' | 'signal'>,
): Promise<void> {
  const changes = new Changes();
  const watched = paths.map((path) => resolve(path));
  // Node's own watch would lose a file that is replaced on Linux, as many editors save.
  const watcher = watch(watched, { ignoreInitial: true, ignored: (path) => !watched.includes(path) && isLeftOut(basename(path)) });
  await using _closed = { [Symbol.asyncDispose]: () => watcher.close() };
  watcher.on('all', (_event, path) => isYaml(path) && changes.note());
  watcher.on('error', (error) => err.write(`parley: changes may be missed: ${(error as Error).message}\n`));
  await new Promise<void>((ready) => watcher.once('ready', ready));
  signal.addEventListener('abort', () => changes.note(), { once: true });
  let known = new Map<string, string>();
  while (!signal.aborted) {
    try {
      const { workspace, pairs } = await command.load();
      const now = new Map(pairs.map((pair) => [pairKey(pair), inputsOf(pair, workspace)]));
      const affected = pairs.filter((pair) => known.get(pairKey(pair)) !== now.get(pairKey(pair)));
      if (affected.length > 0) await command.run(workspace, affected);
      known = now;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof UserError)) throw error;
      // A file may be half written: the next change brings the rest.
      err.write(`parley: ${error.message}\n`);
    }
    await changes.next(SETTLE_MS);
  }
}

const pairKey = ({ test, agent }: Pair): string => `${test.namespace}/${test.name} ${agent}`;

/** Returns everything that decides about a result, but the model. */
function inputsOf({ test, agent }: Pair, { agents }: Workspace): string {
  const { compiled, problems } = agents.get(agentKey(test.namespace, agent)) ?? {};
  return sha256(canonicalJson({ spec: test.spec, problems: test.problems, revision: compiled?.revision, agent: problems }));
}

/** Tells whether something has changed since the last look. */
class Changes {
  #changed = false;
  #wake: () => void = () => undefined;

  note(): void {
    this.#changed = true;
    this.#wake();
  }

  async next(settleMs: number): Promise<void> {
    if (!this.#changed) await new Promise<void>((wake) => (this.#wake = wake));
    await sleep(settleMs);
    this.#changed = false;
  }
}
