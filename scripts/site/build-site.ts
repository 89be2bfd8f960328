/** Builds the site: a page for each document, a page to begin with, and the index of the search. */
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, posix, relative } from 'node:path';

import { build } from 'esbuild';
import MiniSearch from 'minisearch';

import { version } from '../../platform/version.ts';
import { landingHtml, pageHtml } from './layout.ts';
import { renderMarkdown } from './markdown.ts';
import { navigationOf } from './navigation.ts';
import { searchOptions, type SearchEntry } from './search-options.ts';
import { SiteLinks } from './site-links.ts';
import { addressOf, pageFiles } from './source-files.ts';

/** A page that no file is for: it lists the decisions. */
const DECISIONS = 'docs/adr/README.md';

export async function buildSite({ root, out }: { readonly root: string; readonly out: string }): Promise<{ readonly pages: number }> {
  const written = await pageFiles(root);
  const files = [...written, DECISIONS];
  const read = (file: string): Promise<string> => (file === DECISIONS ? decisionsOf(root, written) : readFile(join(root, file), 'utf8'));
  const write = async (address: string, content: string): Promise<void> => {
    await mkdir(dirname(join(out, address)), { recursive: true });
    await writeFile(join(out, address), content);
  };
  const navigation = navigationOf(await read('docs/README.md'));
  const links = new SiteLinks(root, files);
  const entries: SearchEntry[] = [];
  for (const file of files) {
    const address = addressOf(file);
    const { title, html, sections } = renderMarkdown(await read(file), (link) => links.resolve(file, link));
    await write(address, pageHtml({ address, title, version, navigation }, html));
    for (const section of sections) {
      const { anchor, text } = section;
      entries.push({
        id: entries.length,
        address: anchor === '' ? address : `${address}#${anchor}`,
        page: title,
        title: section.title,
        text,
      });
    }
  }
  const introduction = renderMarkdown((await read('README.md')).split(/^```|^## /m)[0]?.replace(/^# .*$/m, '') ?? '', (link) =>
    links.resolve('README.md', link),
  );
  const landing = { address: 'index.html', title: 'Parley', version, navigation };
  await write('index.html', landingHtml(landing, introduction.html));
  for (const folder of links.folders) {
    const inside = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    const found = inside.filter((entry) => entry.isFile()).map((entry) => relative(join(root, folder), join(entry.parentPath, entry.name)));
    for (const file of found) links.copied.add(posix.join(folder, file));
    const list = renderMarkdown(
      `# ${folder}\n\n${found
        .toSorted()
        .map((file) => `- [${file}](${file})`)
        .join('\n')}\n`,
      (link) => link,
    );
    const address = posix.join(folder, 'index.html');
    await write(address, pageHtml({ address, title: folder, version, navigation }, list.html));
  }
  for (const file of links.copied) {
    await mkdir(dirname(join(out, file)), { recursive: true });
    await copyFile(join(root, file), join(out, file));
  }
  const index = new MiniSearch<SearchEntry>(searchOptions);
  index.addAll(entries);
  // A script and no JSON file: pages that are opened from the disk may load nothing else.
  await write('search-index.js', `window.parleySearchIndex = ${JSON.stringify(JSON.stringify(index))};\n`);
  const browser = join(import.meta.dirname, 'browser');
  await build({ entryPoints: [join(browser, 'search.ts')], outfile: join(out, 'search.js'), bundle: true, minify: true, format: 'iife' });
  await copyFile(join(browser, 'site.css'), join(out, 'site.css'));
  return { pages: files.length };
}

async function decisionsOf(root: string, files: readonly string[]): Promise<string> {
  const decisions = files.filter((file) => file.startsWith('docs/adr/'));
  const items = decisions.map(async (file) => {
    const [, title = file] = /^# (.*)$/m.exec(await readFile(join(root, file), 'utf8')) ?? [];
    return `- [${title}](${posix.basename(file)})`;
  });
  return `# Decisions\n\nFind out why Parley is as it is, and what was measured.\n\n${(await Promise.all(items)).join('\n')}\n`;
}
