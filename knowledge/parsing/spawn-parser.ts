import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { locateAsset } from '../../platform/assets.ts';
import { assetFolders } from './assets.ts';
import { HEAP_MEGABYTES, PROCESSOR_SECONDS } from './limits.ts';
import type { ParserKind } from './extension.ts';

/** The build puts the child's entry next to the code in `dist/`. */
export const PARSER_ENTRY = 'parser-process.mjs';

/** Flags of Node. A small new generation keeps text's garbage small, and costs nothing: see ADR 0055. */
const FLAGS: Readonly<Record<ParserKind, readonly string[]>> = { plain: ['--max-semi-space-size=4'], binary: [] };

/** Starts a process with an empty environment, and no rights but to read its own code. */
export function spawnParser(kind: ParserKind, otherEntry?: string): ChildProcess {
  const entry = otherEntry ?? locateAsset(import.meta.url, PARSER_ENTRY) ?? fileURLToPath(new URL('child/main.ts', import.meta.url));
  const node = [
    process.execPath,
    `--max-old-space-size=${HEAP_MEGABYTES}`,
    '--permission',
    ...readable(entry).map((path) => `--allow-fs-read=${path}`),
    '--disallow-code-generation-from-strings',
    '--zero-fill-buffers',
    ...FLAGS[kind],
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning',
    entry,
  ];
  // A shell, where there is one, sets the kernel's own limits: processor time, no dumps of memory, no files. Where util-linux is there, the
  // child ends with the parent: a busy child does not notice that its parent is gone.
  const limits = `ulimit -t ${PROCESSOR_SECONDS}; ulimit -c 0; ulimit -f 0
    setpriv --pdeathsig KILL true 2>&- && exec setpriv --pdeathsig KILL "$0" "$@"
    exec "$0" "$@"`;
  const [file = '', ...args] = existsSync('/bin/sh') ? ['/bin/sh', '-c', limits, ...node] : node;
  return spawn(file, args, { env: {}, cwd: '/', stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] });
}

/** Returns the child's own code, and the files that the libraries read next to theirs. */
function readable(entry: string): readonly string[] {
  if (basename(entry) === PARSER_ENTRY) return [dirname(entry)];
  const sources = fileURLToPath(new URL('../../', import.meta.url));
  const paths = ['knowledge', 'platform', 'package.json', 'node_modules'].map((name) => sources + name);
  return [...new Set([...paths, ...paths.map((path) => realpathSync(path)), ...assetFolders()])];
}
