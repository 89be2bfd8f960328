/** Where the links of documents lead in the site. */
import { existsSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

import { addressOf, relativeAddress } from './source-files.ts';

export class SiteLinks {
  readonly #root: string;
  readonly #pages: ReadonlySet<string>;
  /** Files that are linked and are no pages: they are copied. */
  readonly copied = new Set<string>();
  /** Folders that are linked and have no page: each gets a list of its files. */
  readonly folders = new Set<string>();

  constructor(root: string, pages: readonly string[]) {
    this.#root = root;
    this.#pages = new Set(pages);
  }

  /** @throws Error for a link that leads nowhere */
  resolve(from: string, link: string): string {
    if (/^[a-z][a-z0-9+.-]*:|^#/i.test(link)) return link;
    const [path = '', anchor] = link.split('#');
    const address = this.#addressOf(posix.join(posix.dirname(from), path).replace(/\/$/, ''));
    if (address === undefined) throw new Error(`${from}: the link ${link} leads nowhere`);
    return relativeAddress(addressOf(from), address) + (anchor === undefined ? '' : `#${anchor}`);
  }

  #addressOf(path: string): string | undefined {
    const readme = posix.join(path, 'README.md');
    if (this.#pages.has(path)) return addressOf(path);
    if (this.#pages.has(readme)) return addressOf(readme);
    const file = join(this.#root, path);
    if (!existsSync(file)) return undefined;
    if (!statSync(file).isDirectory()) {
      this.copied.add(path);
      return path;
    }
    this.folders.add(path);
    return posix.join(path, 'index.html');
  }
}
