/** Writes the files of a recipe into a folder. */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';

import { fileProblem } from '../../platform/file-error.ts';
import { UserError } from '../../platform/user-error.ts';
import { renameAgent } from './rename-agent.ts';
import { recipesFolder, type TemplateName } from './templates.ts';

export interface WriteRecipeOptions {
  readonly template: TemplateName;
  readonly folder: string;
  /** Name of the agent. */
  readonly name: string;
}

/** Most names of files in an error. */
const MOST_NAMED = 5;

/**
 * @returns paths of the files, below the folder
 * @throws UserError where a file is there already, before anything is written, or where the folder can't be written
 */
export async function writeRecipe({ template, folder, name }: WriteRecipeOptions): Promise<readonly string[]> {
  const files = (await readRecipe(template)).map((file) => (name === template ? file : renameAgent(file, template, name)));
  await refuseFiles(folder, files);
  try {
    for (const { path, content } of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      // A file that came meanwhile is somebody else's.
      await writeFile(join(folder, path), content, { flag: 'wx' });
    }
  } catch (error) {
    throw new UserError(`failed to write into ${folder}: ${fileProblem(error)}`, { cure: 'name another folder', cause: error });
  }
  return files.map(({ path }) => path);
}

async function readRecipe(template: TemplateName) {
  const root = join(recipesFolder(), template);
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  return Promise.all(
    paths.toSorted().map(async (path) => ({ path: path.split(sep).join('/'), content: await readFile(join(root, path), 'utf8') })),
  );
}

/** Refuses to replace what is there: people may have changed it. */
async function refuseFiles(folder: string, files: readonly { readonly path: string }[]): Promise<void> {
  const found: string[] = [];
  for (const { path } of files) {
    const isThere = await stat(join(folder, path)).then(
      () => true,
      () => false,
    );
    if (isThere) found.push(path);
  }
  if (found.length === 0) return;
  const more = found.length > MOST_NAMED ? ` and ${found.length - MOST_NAMED} more` : '';
  const names = found.slice(0, MOST_NAMED).join(', ');
  throw new UserError(`${folder} has ${names}${more} already, so nothing was written`, {
    cure: 'name another folder, or move these files away',
  });
}
