/** Finds the files that `parley kb add` is given: by name, as folders, or on standard input. */
import { openAsBlob } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';

import type { DocumentUpload } from '../../api/client/prepare-uploads.ts';
import { fileProblem } from '../../platform/file-error.ts';
import { UserError } from '../../platform/user-error.ts';

export interface FileSources {
  /** Files and folders; `-` is standard input. */
  readonly paths: readonly string[];
  /** Name for the document on standard input. */
  readonly stdinName: string | undefined;
  readonly stdin: AsyncIterable<Uint8Array>;
}

/** Lists each file once, in folders everything but names that begin with a dot. Opening a file finds out that it can't be read. */
export async function findFiles({ paths, stdinName, stdin }: FileSources): Promise<readonly DocumentUpload[]> {
  const found = new Map<string, DocumentUpload>();
  for (const path of paths) {
    if (path === '-') {
      if (stdinName === undefined) {
        throw new UserError('the document on standard input has no name', { cure: 'give it one with an extension: --name notes.md' });
      }
      found.set('-', { file: stdinName, filename: stdinName, open: () => readAll(stdin) });
    } else {
      for await (const file of filesAt(path)) {
        if (!found.has(resolve(file))) found.set(resolve(file), { file, filename: basename(file), open: () => openFile(file) });
      }
    }
  }
  return [...found.values()];
}

/** Yields a folder without files itself, to be reported like a bad file. */
async function* filesAt(path: string): AsyncGenerator<string> {
  // A path that is no folder is refused, too.
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  const visible = entries.filter(({ name }) => !name.startsWith('.'));
  if (visible.length === 0) yield path;
  for (const entry of visible.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const below = join(path, entry.name);
    // A link to a folder could lead back up: it is no folder here.
    if (entry.isDirectory()) yield* filesAt(below);
    else yield below;
  }
}

async function openFile(file: string): Promise<Blob> {
  try {
    const stats = await stat(file);
    if (stats.isDirectory()) {
      const isLink = (await lstat(file)).isSymbolicLink();
      throw new UserError(isLink ? 'it is a link to a folder: name the folder itself' : 'it is a folder without files that can be read');
    }
    if (!stats.isFile()) throw new UserError('it is no file');
    return await openAsBlob(file);
  } catch (error) {
    throw error instanceof UserError ? error : new UserError(`it cannot be read: ${fileProblem(error)}`, { cause: error });
  }
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of stream) chunks.push(new Uint8Array(chunk));
  return new Blob(chunks);
}
