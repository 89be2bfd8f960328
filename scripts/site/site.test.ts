import { readdir, readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { runInNewContext } from 'node:vm';

import { load } from 'cheerio';
import MiniSearch from 'minisearch';
import { beforeAll, describe, expect, it } from 'vitest';

import { suiteFolder } from '../../test/support/folders.ts';
import { buildSite } from './build-site.ts';
import { renderMarkdown } from './markdown.ts';
import { navigationOf } from './navigation.ts';
import { searchOptions, type SearchEntry } from './search-options.ts';

describe('the site', () => {
  const out = suiteFolder();
  let pages: readonly string[];
  beforeAll(async () => {
    await buildSite({ root: resolve(import.meta.dirname, '../..'), out });
    pages = (await readdir(out, { recursive: true })).filter((file) => file.endsWith('.html'));
  });

  const read = (page: string): Promise<string> => readFile(join(out, page), 'utf8');

  it('has a page for each document, and leads only to what it has', async () => {
    expect(pages).toEqual(
      expect.arrayContaining(['index.html', 'readme.html', 'docs/index.html', 'docs/adr/index.html', 'docs/calls/index.html']),
    );
    const dead: string[] = [];
    for (const page of pages) {
      const html = load(await read(page));
      const addresses = html('[href], [src]')
        .toArray()
        .map((node) => html(node).attr('href') ?? html(node).attr('src') ?? '');
      for (const address of addresses.filter((each) => !/^[a-z]+:/i.test(each))) {
        const [path = '', anchor] = address.split('#');
        const target = path === '' ? page : join(dirname(page), path, path.endsWith('/') ? 'index.html' : '');
        const isThere =
          existsSync(join(out, target)) && (anchor === undefined || load(await read(target))(`[id="${anchor}"]`).length === 1);
        if (!isThere) dead.push(`${page}: ${address}`);
      }
    }
    expect(dead).toEqual([]);
  });

  it('begins with a page that has every group of the documentation, and asks no other server for anything', async () => {
    const html = load(await read('index.html'));
    expect(
      html('main h2')
        .toArray()
        .map((node) => html(node).text()),
    ).toEqual(['Install', 'Agents as code', 'Use', 'Operate', 'Look up']);
    for (const page of pages) {
      const loaded = load(await read(page))('script[src], link[href], img[src]').toArray();
      expect(loaded.map(({ attribs }) => attribs['src'] ?? attribs['href'] ?? '').filter((each) => /^([a-z]+:)?\/\//i.test(each))).toEqual(
        [],
      );
    }
  });

  it('finds sections by their words, names of fields and variables included', async () => {
    const window: { parleySearchIndex?: string } = {};
    runInNewContext(await read('search-index.js'), { window });
    const index = MiniSearch.loadJSON<SearchEntry>(window.parleySearchIndex ?? '', searchOptions);
    const found = (query: string): readonly string[] =>
      index
        .search(query)
        .slice(0, 5)
        .map(({ address }) => String(address));
    expect(found('failure codes')).toContain('docs/knowledge/files.html#failure-codes');
    expect(found('PARLEY_EGRESS_ALLOW_CIDRS').join(' ')).toMatch(/outside-calls|configuration/);
    expect(found('webhok signing').join(' ')).toContain('signing');
    expect(found('qwertzuiop')).toEqual([]);
  });
});

it('gives headings the anchors that GitHub gives them, and keeps text out of scripts', () => {
  const page = renderMarkdown('# A `b` c\n\nText <script>alert(1)</script>.\n\n## Same\n\n## Same\n', (link) => link);
  expect(page.title).toBe('A b c');
  expect(page.html).toContain('<h2 id="same-1">');
  expect(page.html).not.toContain('<script>');
  expect(page.sections.map(({ anchor }) => anchor)).toEqual(['', 'same', 'same-1']);
});

it('takes the order of the pages from lists of links, whatever their lines are like', () => {
  expect(navigationOf('# D\n\n## Use\n\n- [calls](calls/README.md): make\n  them\n- [A](a.md), [b](b.md): two\n')).toEqual([
    {
      title: 'Use',
      links: [
        { file: 'docs/calls/README.md', title: 'Calls', about: 'make them' },
        { file: 'docs/a.md', title: 'A', about: '' },
        { file: 'docs/b.md', title: 'B', about: '' },
      ],
    },
  ]);
});
