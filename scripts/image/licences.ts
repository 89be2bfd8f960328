/** Collects the texts of bundled packages' licences, which have to go along with the code. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  /** Old packages have an object here. */
  readonly license?: unknown;
}

/** Returns one text of all licence and notice files of the packages, each under the package's name. */
export async function licenceTexts({ root, folders }: { readonly root: string; readonly folders: readonly string[] }): Promise<string> {
  const parts: string[] = [];
  for (const folder of [...folders].sort()) {
    const files = (await readdir(join(root, folder))).filter((name) => /^(licen[cs]e|notice|copying)/i.test(name)).sort();
    const { name, version, license } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as Manifest;
    const texts = await Promise.all(files.map((file) => readText(join(root, folder, file))));
    const body =
      texts.filter((text) => text !== '').join('\n\n') || `Licence as the package states it: ${JSON.stringify(license ?? 'none')}`;
    parts.push(`${'='.repeat(80)}\n${name ?? basename(folder)} ${version ?? ''}\n${'='.repeat(80)}\n\n${body.trim()}\n`);
  }
  return parts.join('\n');
}

/** Some packages have a folder of licences. */
async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') return '';
    throw error;
  }
}
