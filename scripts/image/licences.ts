/** Collects the texts of licences, which have to go along with the code, and checks that they do. */
import { access, readdir, readFile } from 'node:fs/promises';
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

/** Folder of the texts that the copyrights of Debian's packages refer to. */
const COMMON_LICENSES = 'usr/share/common-licenses';

/**
 * Checks that an image has the texts that its parts ask for.
 *
 * @param options.layers folders of the layers, which the image has one over the other
 * @param options.texts paths in the image that have to be there
 * @param options.debian names of Debian's packages: each needs its copyright, and the texts that this one names
 * @throws Error with what is missing
 */
export async function requireTexts(options: {
  readonly layers: readonly string[];
  readonly texts: readonly string[];
  readonly debian: readonly string[];
}): Promise<void> {
  const find = async (path: string): Promise<string | undefined> => {
    for (const layer of options.layers) if (await exists(join(layer, path))) return join(layer, path);
    return undefined;
  };
  const needed = new Set(options.texts);
  for (const name of options.debian) {
    const path = `usr/share/doc/${name}/copyright`;
    needed.add(path);
    const copyright = await find(path);
    const text = copyright === undefined ? '' : await readFile(copyright, 'utf8');
    for (const [, licence = ''] of text.matchAll(/\/usr\/share\/common-licenses\/((?:[\w+-]|\.(?=\d))+)/g))
      needed.add(`${COMMON_LICENSES}/${licence}`);
  }
  const missing: string[] = [];
  for (const path of needed) if ((await find(path)) === undefined) missing.push(path);
  if (missing.length > 0) throw new Error(`the image lacks texts of licences: ${missing.join(', ')}`);
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Some packages have a folder of licences. */
async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') return '';
    throw error;
  }
}
