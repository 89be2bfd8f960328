/** Links of the documents lead to a file of this repository, and to a heading that it has. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const folders = new Set(readdirSync(root).filter((name) => !['build', 'coverage', 'dist', 'node_modules'].includes(name)));
const pages = ['README.md', 'CONTRIBUTING.md', 'AGENTS.md', 'SECURITY.md', 'CHANGELOG.md', ...list('docs'), ...list('examples')];

it.each(pages)('%s', (page) => {
  expect(linksOf(page).filter((link) => !leadsSomewhere(page, link))).toEqual([]);
});

it('no page of docs/ is one that nothing leads to', () => {
  const targets = new Set(
    pages.flatMap((page) =>
      linksOf(page)
        .map((link) => relative(root, resolve(root, dirname(page), link.split('#')[0] ?? '')))
        .filter((target) => target !== page),
    ),
  );
  expect(list('docs').filter((page) => !targets.has(page))).toEqual([]);
});

it.each(pages.filter((page) => page !== 'CHANGELOG.md'))('%s names files and folders that exist', (page) => {
  expect(namedPaths(page).filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

it('finds the files that pages name', () => {
  expect(namedPaths('CONTRIBUTING.md').length).toBeGreaterThan(50);
});

function list(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file));
}

/** Finds names in backticks of sources, and of whatever is in a folder of the repository. */
function namedPaths(page: string): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/`(([a-z-]+)\/[\w./-]+)`/g)].flatMap(([, path = '', folder = '']) =>
    folders.has(folder) || /\.(ts|sql)$/.test(path) ? [path] : [],
  );
}

/** Returns the page's lines without blocks of code. */
function proseOf(page: string): readonly string[] {
  return readFileSync(join(root, page), 'utf8')
    .replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
    .split('\n');
}

/** Finds relative links, without those that stand in code. */
function linksOf(page: string): readonly string[] {
  const text = proseOf(page)
    .join('\n')
    .replaceAll(/`[^`\n]*`/g, 'code');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^[a-z][a-z0-9+.-]*:/i.test(link));
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? join(root, page) : resolve(root, dirname(page), path);
  if (!existsSync(target)) return false;
  if (heading === undefined || statSync(target).isDirectory() || !target.endsWith('.md')) return true;
  return headingsOf(readFileSync(target, 'utf8')).has(heading);
}

/** Returns the headings as GitHub makes anchors of them. */
function headingsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, title = ''] of text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#{1,6} (.+)$/gm)) {
    const base = title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    let anchor = base;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${base}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}
