import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { errorMessageOf } from '../platform/caught.ts';
import { UserError } from '../platform/user-error.ts';

/** Paths of one stack: all lie in the folder `.parley` next to the person's own files. */
export interface Layout {
  readonly root: string;
  /** The file exists exactly while the stack is ready. */
  readonly envFile: string;
  /** Kubeconfig of the administrator, in the organisation's namespace. */
  readonly kubeconfig: string;
  /** Folder with links to kubectl, temporal, parley and its plugin for kubectl. */
  readonly bin: string;
  readonly data: string;
  readonly logs: string;
  /** Folder for `<part>.pid`. */
  readonly run: string;
  readonly secrets: string;
  /** File that keeps ports, organisation and addresses over restarts. */
  readonly settings: string;
  /** Process id of the supervisor; this file also keeps two supervisors from sharing the folder. */
  readonly supervisorPid: string;
}

export function layoutOf(folder: string): Layout {
  const root = resolve(folder, '.parley');
  return {
    root,
    envFile: join(root, 'dev.env'),
    kubeconfig: join(root, 'kubeconfig'),
    bin: join(root, 'bin'),
    data: join(root, 'data'),
    logs: join(root, 'logs'),
    run: join(root, 'run'),
    secrets: join(root, 'secrets'),
    settings: join(root, 'stack.json'),
    supervisorPid: join(root, 'supervisor.pid'),
  };
}

/** @throws UserError when the folder can't be made: it may be read-only, or a file is in the way */
export function createLayout(layout: Layout): void {
  // Postgres may run as another account, which has to get as far as its own folder, and needs to see nothing on the way.
  for (const folder of [layout.root, layout.data]) makeFolder(folder, 0o711);
  for (const folder of [layout.secrets, layout.logs, layout.run, layout.bin]) makeFolder(folder, 0o700);
}

function makeFolder(folder: string, mode: number): void {
  try {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) mkdirSync(folder);
    // Folders of earlier versions get this mode, too, whatever the umask.
    chmodSync(folder, mode);
  } catch (cause) {
    throw new UserError(`the folder ${folder} can't be made: ${errorMessageOf(cause)}`, {
      cure: `run the command in a folder that you may write to; ${dirname(folder)} is not one, or a file is in the way`,
      cause,
    });
  }
}

/** Finds the nearest `.parley` with a ready stack, from `folder` upwards, as git finds its own. */
export function findLayout(folder: string): Layout | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const layout = layoutOf(at);
    if (existsSync(layout.envFile)) return layout;
    if (dirname(at) === at) return undefined;
  }
}
