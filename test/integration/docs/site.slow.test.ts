/** The documentation as a site, opened from the disk in a real browser. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { describe, expect, it, onTestFinished } from 'vitest';

import { repositoryRoot } from '../../../local-stack/repository.ts';
import { buildSite } from '../../../scripts/site/build-site.ts';
import { eventually } from '../../support/eventually.ts';
import { testFolder } from '../../support/folders.ts';
import { openPage } from '../cli-call/browser.ts';

describe('the site of the documentation', () => {
  it('leads from its first page to the others, and searches without a server', async () => {
    const folder = testFolder();
    const out = join(folder, 'site');
    await buildSite({ root: repositoryRoot(), out });
    const page = await openPage({ folder });
    onTestFinished(() => page.close());
    await page.resize({ width: 1280, height: 900 });
    await page.goTo(pathToFileURL(join(out, 'index.html')).href);
    expect(await page.run('document.querySelector("h1").textContent')).toBe('Parley');

    const search = (words: string): Promise<string> =>
      page.run(
        `(() => { const field = document.querySelector('#query'); field.value = '${words}'; field.dispatchEvent(new Event('input')); return document.querySelector('#results a')?.href ?? 'nothing found'; })()`,
      );
    // A page that has just opened may not have read its index yet.
    await eventually(async () => expect(await search('failure codes')).toMatch(/docs\/knowledge\/files\.html#failure-codes$/));
    await page.run('document.querySelector("#results a").click()');
    await eventually(async () => {
      expect(await page.run('document.querySelector("h1").textContent')).toMatch(/files/);
      expect(await page.run('document.querySelector("nav [aria-current]").textContent')).toBe('Files');
    });
    // Below the page's own folder the search works as well.
    await eventually(async () => expect(await search('backup')).toContain(pathToFileURL(out).href));
    expect(page.complaints).toEqual([]);
    expect(page.requested.filter((url) => !url.startsWith('file:'))).toEqual([]);
  });
});
