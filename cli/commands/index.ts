import type { Command } from 'commander';

import { registerVersion } from './version.ts';

/** Adds one subcommand to the program; its work is imported when it runs, so that `parley --help` is quick. */
export type Register = (program: Command) => void;

/** In the order of `parley --help`. */
export const commands: readonly Register[] = [registerVersion];
