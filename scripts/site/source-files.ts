/** Which files of the repository are pages of the site, and where each is. */
import { readdir } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';

/** Outside of docs/. */
const OTHERS = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

export async function pageFiles(root: string): Promise<readonly string[]> {
  const docs = await readdir(join(root, 'docs'), { recursive: true });
  return [...OTHERS, ...docs.filter((file) => file.endsWith('.md')).map((file) => posix.join('docs', file))].toSorted();
}

/** `docs/calls/README.md` → `docs/calls/index.html`; the page that the site begins with is another one. */
export function addressOf(file: string): string {
  if (OTHERS.includes(file)) return `${file.slice(0, -3).toLowerCase()}.html`;
  return file.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html');
}

/** From one address of the site to another. */
export function relativeAddress(from: string, to: string): string {
  return posix.relative(dirname(from), to) || posix.basename(to);
}
