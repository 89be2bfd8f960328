import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

import { fileProblem } from '../../platform/file-error.ts';
import { UserError } from '../../platform/user-error.ts';
import { YamlError } from '../../platform/yaml.ts';
import { fromYaml } from '../yaml.ts';

export interface FileToWrite {
  /** Path below the folder. */
  readonly path: string;
  readonly content: string;
  /** True for a file that only its owner may read. */
  readonly secret: boolean;
}

/** Overwrites files of the same names, and leaves everything else. */
export async function writeFiles(folder: string, files: readonly FileToWrite[]): Promise<void> {
  for (const { path, content, secret } of files) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    const mode = secret ? 0o600 : 0o644;
    await writeFile(target, content, { mode });
    // The mode is heeded for new files only.
    if (secret) await chmod(target, mode);
  }
}

export interface ReadDocument {
  /** The file as a message names it. */
  readonly file: string;
  readonly document: unknown;
}

/** Reads every YAML document in the files and folders; `-` is standard input. @throws UserError naming the file that can't be read */
export async function readDocuments(paths: readonly string[]): Promise<readonly ReadDocument[]> {
  const documents: ReadDocument[] = [];
  for (const path of paths) {
    const standardInput = path === '-';
    for (const file of standardInput ? ['standard input'] : await filesAt(path)) {
      try {
        const content = standardInput ? await text(process.stdin) : await readFile(file, 'utf8');
        documents.push(...fromYaml(content).map((document) => ({ file, document })));
      } catch (error) {
        const line = error instanceof YamlError && error.line !== undefined ? `:${error.line}` : '';
        throw new UserError(`${file}${line} can't be read: ${fileProblem(error)}`, { cause: error });
      }
    }
  }
  return documents;
}

async function filesAt(path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
  } catch (error) {
    throw new UserError(`${path} can't be read: ${fileProblem(error)}`, { cause: error });
  }
  const entries = await readdir(path, { recursive: true });
  return entries
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .toSorted()
    .map((name) => join(path, name));
}
