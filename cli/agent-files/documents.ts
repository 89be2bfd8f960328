/** Reads YAML files of resources as kubectl reads them, with the place of each field. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { isNode } from 'yaml';

import { fileProblem } from '../../platform/file-error.ts';
import { readYaml, YamlError, type YamlDocument } from '../../platform/yaml.ts';
import { misnamedAs } from './misnamed.ts';

/** A file that can't be read, or is no YAML. The message begins with its place. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
}

export interface FileObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export interface SourceObject {
  readonly file: string;
  readonly object: FileObject;
  /** @param path the path as problems have it, `spec.conversation[0].user`; its nearest part that exists counts */
  lineOf(path: string): number;
}

/** Folders that hold no resources of the team. */
const IGNORED = new Set(['node_modules', 'cassettes']);
/** The largest file that is read, in bytes: more is no resource. */
const MAX_BYTES = 16 * 1024 * 1024;

export const isYaml = (name: string): boolean => /\.ya?ml$/.test(name);

/** Tells whether a file or folder of this name is skipped in a folder: hidden ones, cassettes, and installed packages are. */
export const isLeftOut = (name: string): boolean => name.startsWith('.') || IGNORED.has(name);

/**
 * Reads the objects in files and folders, without a folder's hidden files, cassettes and installed packages. @throws UnreadableFileError
 */
export async function readObjects(paths: readonly string[]): Promise<readonly SourceObject[]> {
  const files = [...new Set((await Promise.all(paths.map(filesAt))).flat())];
  return (await Promise.all(files.map(objectsIn))).flat();
}

async function filesAt(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    throw new UnreadableFileError(`${path} can't be read: ${fileProblem(cause)}`, {
      cause,
    });
  });
  return found.isDirectory() ? filesIn(path) : [path];
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const found = await Promise.all(
    entries.map(async (entry) => {
      if (isLeftOut(entry.name)) return [];
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesIn(path);
      return isYaml(entry.name) ? [path] : [];
    }),
  );
  return found.flat();
}

/** Skips documents of others that are no Kubernetes objects, such as the values of a chart. */
async function objectsIn(file: string): Promise<readonly SourceObject[]> {
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new UnreadableFileError(`${file} can't be read: ${cause.message}`, { cause });
  });
  if (Buffer.byteLength(text) > MAX_BYTES) return [];
  return documentsIn(file, text).flatMap((document) => {
    const { value: object } = document;
    const fault = misnamedAs(object);
    if (fault !== undefined)
      throw new UnreadableFileError(located({ file, lineOf: (path) => lineOf(document, path) }, fault.path, fault.message));
    return isObject(object) ? [{ file, object, lineOf: (path) => lineOf(document, path) }] : [];
  });
}

function documentsIn(file: string, text: string): readonly YamlDocument[] {
  try {
    return readYaml(text, { dialect: 'kubernetes' });
  } catch (cause) {
    if (!(cause instanceof YamlError)) throw cause;
    throw new UnreadableFileError(`${file}${cause.line === undefined ? '' : `:${cause.line}`}: ${cause.message}`, { cause });
  }
}

function isObject(value: unknown): value is FileObject {
  const { apiVersion, kind, metadata } = (typeof value === 'object' && value !== null ? value : {}) as Partial<FileObject>;
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata === 'object' && typeof metadata?.name === 'string';
}

function lineOf({ document, lineAt }: YamlDocument, path: string): number {
  const steps = stepsOf(path);
  for (let length = steps.length; length > 0; length -= 1) {
    const parent = document.getIn(steps.slice(0, length - 1), true);
    const last = steps[length - 1];
    const node: unknown = document.getIn(steps.slice(0, length), true);
    if (!isNode(node)) continue;
    // Takes the line of the item's key: a value may begin on the next one.
    const items = (
      parent as
        | { readonly items?: readonly { readonly key?: { readonly value?: unknown; readonly range?: readonly number[] } }[] }
        | undefined
    )?.items;
    const key = items?.find((item) => item.key?.value === last)?.key;
    const at = key?.range?.[0] ?? node.range?.[0];
    if (at !== undefined) return lineAt(at);
  }
  return lineAt(document.contents?.range[0] ?? 0);
}

/** Splits `spec.a[0].b` into spec, a, 0, b. */
function stepsOf(path: string): readonly (string | number)[] {
  return [...path.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)].map(
    ([, name, index]) => name ?? (/^\d+$/.test(index ?? '') ? Number(index) : (index ?? '')),
  );
}

/** Formats `file:line: path: message`, as compilers do. */
export function located({ file, lineOf: line }: Pick<SourceObject, 'file' | 'lineOf'>, path: string, message: string): string {
  return `${file}:${line(path)}: ${path}: ${message}`;
}
