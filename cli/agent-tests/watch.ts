/** `parley test --watch`: after each change of a file, the tests that it can affect. */
import { watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

import { canonicalJson, sha256 } from '../../platform/canonical-json.ts';
import { UserError } from '../../platform/user-error.ts';
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
  const watchers = await Promise.all(
    paths.map(async (path) => {
      const folder = (await stat(path)).isDirectory() ? path : dirname(path);
      // Reports are written next to the files: they are not read.
      return watch(
        folder,
        { recursive: true, signal },
        (_event, name) => /\.ya?ml$/.test(name ?? '') && !/(^|\/)cassettes\//.test(name ?? '') && changes.note(),
      );
    }),
  );
  for (const watcher of watchers) watcher.on('error', () => undefined);
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
      // Half of a file, perhaps: the next change brings the rest.
      err.write(`parley: ${error.message}\n`);
    }
    await changes.next(SETTLE_MS);
  }
}

const pairKey = ({ test, agent }: Pair): string => `${test.namespace}/${test.name} ${agent}`;

/** Everything that decides about a result, but the model. */
function inputsOf({ test, agent }: Pair, { agents }: Workspace): string {
  const { compiled, problems } = agents.get(agentKey(test.namespace, agent)) ?? {};
  return sha256(canonicalJson({ spec: test.spec, problems: test.problems, revision: compiled?.revision, agent: problems }));
}

/** Whether something has changed since the last look. */
class Changes {
  #changed = false;
  #wake: () => void = () => undefined;

  note(): void {
    this.#changed = true;
    this.#wake();
  }

  async next(settleMs: number): Promise<void> {
    if (!this.#changed) await new Promise<void>((resolve) => (this.#wake = resolve));
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    this.#changed = false;
  }
}
