/** Tests the documentation as a site, as `make site` builds it. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { load } from 'cheerio';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { repositoryRoot } from '../../../local-stack/repository.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder, testFolder } from '../../support/folders.ts';
import { Servers } from '../../support/http-servers.ts';
import { openPage, type Page } from '../cli-call/browser.ts';
import { checkAccess, SIZES } from '../cli-call/page-checks.ts';

const TYPES: Readonly<Record<string, string>> = { css: 'text/css', html: 'text/html', js: 'text/javascript' };

describe('the site of the documentation', () => {
  const out = suiteFolder();
  beforeAll(async () => {
    await promisify(execFile)('vitepress', ['build', 'docs', '--outDir', out], { cwd: repositoryRoot() });
  });

  /** Returns the file of the site that answers a path. */
  const fileOf = (path: string): string => `${path.slice(1)}${path.endsWith('/') ? 'index.html' : ''}`;

  it('leads only to what it has, headings included', () => {
    const pages = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html') && file !== '404.html');
    const documents = new Map(pages.map((page) => [page, load(readFileSync(join(out, page), 'utf8'))]));
    expect(pages).toEqual(expect.arrayContaining(['index.html', 'docs/index.html', 'docs/adr/index.html', 'CHANGELOG.html']));
    const dead = [...documents].flatMap(([page, html]) =>
      html('[href], [src]')
        .toArray()
        .map(({ attribs }) => attribs['href'] ?? attribs['src'] ?? '')
        .filter((address) => {
          const { host, pathname, hash } = new URL(address, `http://site/${page}`);
          if (host !== 'site') return false;
          const file = fileOf(decodeURIComponent(pathname));
          if (hash === '') return !existsSync(join(out, file));
          return documents.get(file)?.(`[id="${decodeURIComponent(hash.slice(1))}"]`).length !== 1;
        })
        .map((address) => `${page}: ${address}`),
    );
    expect(dead).toEqual([]);
  });

  /** Serves the site and opens a page of it. */
  async function openSite(path: string): Promise<{ readonly page: Page; readonly origin: string }> {
    const servers = new Servers();
    onTestFinished(() => servers.stop());
    const { port } = await servers.http(({ url = '/' }, response) => {
      const file = join(out, fileOf(new URL(url, 'http://site').pathname));
      if (!existsSync(file)) return response.writeHead(404).end();
      return response.setHeader('content-type', TYPES[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream').end(readFileSync(file));
    });
    const page = await openPage({ folder: testFolder() });
    onTestFinished(() => page.close());
    const origin = `http://127.0.0.1:${port}`;
    await page.resize(SIZES.desk);
    await page.goTo(`${origin}${path}`);
    return { page, origin };
  }

  // The front page, and pages with check boxes, tables, long code, many headings and releases.
  it.each(['/', '/docs/install/helm.html', '/docs/calls/settings.html', '/docs/reference/rest.html', '/CHANGELOG.html'])(
    'can be read by everybody, on a phone, too: %s',
    async (path) => {
      const { page } = await openSite(path);
      const texts = (selector: string): Promise<readonly string[]> =>
        page.run(
          `[...document.querySelectorAll('${selector}')].filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > 0).map(({ textContent }) => textContent.trim())`,
        );
      expect(await page.run('document.querySelector(".VPNavBarTitle img").naturalWidth > 0')).toBe(true);
      expect(await texts('.VPDocAsideOutline a')).not.toEqual([]);
      const code = await page.run<number>('document.querySelectorAll("div[class*=language-]").length');
      expect(await page.run('document.querySelectorAll("button.copy").length')).toBe(code);
      await checkAccess(page);
      await page.resize(SIZES.phone);
      await eventually(async () => expect(await texts('.VPSidebar a')).toEqual([]));
      expect(await page.run('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    },
  );

  it('finds sections by their words, and asks no other server', async () => {
    const { page, origin } = await openSite('/');
    expect(await page.run('[...document.querySelectorAll(".VPSidebar h2")].map((heading) => heading.textContent)')).toEqual([
      'Install',
      'Agents as code',
      'Use',
      'Operate',
      'Look up',
    ]);

    await page.run('document.querySelector("#local-search button").click()');
    await eventually(async () => expect(await page.run('document.querySelector("#localsearch-input") !== null')).toBe(true));
    const found = async (words: string): Promise<string> => {
      await page.run(
        `(() => { const field = document.querySelector('#localsearch-input'); field.value = '${words}'; field.dispatchEvent(new Event('input')); })()`,
      );
      return page.run('[...document.querySelectorAll("a.result")].slice(0, 5).map(({ href }) => href).join(" ")');
    };
    for (const [words, address] of [
      ['failure codes', /docs\/knowledge\/files\.html#failure-codes/],
      ['PARLEY_EGRESS_ALLOW_CIDRS', /outside-calls|configuration/],
      ['webhok signing', /signing/],
      ['qwertzuiop', /^$/],
    ] as const) {
      await eventually(async () => expect(await found(words)).toMatch(address));
    }
    expect(page.complaints).toEqual([]);
    const hosts = page.requested.map((url) => new URL(url)).filter(({ protocol }) => protocol !== 'data:');
    expect([...new Set(hosts.map((host) => host.origin))]).toEqual([origin]);
  });
});
