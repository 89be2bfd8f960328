import type { Command } from 'commander';

import { addRelease } from '../kubectl/release/command.ts';
import { processIo } from '../kubectl/io.ts';

/** `parley history`, `diff`, `rollback` and `promote`: the plugin's commands. */
export function registerRelease(program: Command): void {
  addRelease(program, processIo(new AbortController().signal), 'parley');
}
