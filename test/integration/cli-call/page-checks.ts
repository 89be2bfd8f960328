/** Checks what every state of a page must hold, at the width of a desk and of a phone. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect } from 'vitest';

import type { Page } from './browser.ts';

export const SIZES = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;

/** A window of 1280 pixels is as narrow at 400 %. */
const NARROWEST = { width: 320, height: 640 };

const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: unknown; readonly failureSummary: string }[];
}

/** A page hears of another scheme with its next frame; colours that change slowly are at their end at once. */
const SHOWN = `new Promise(requestAnimationFrame).then(() =>
  document.getAnimations().filter((animation) => animation instanceof CSSTransition).forEach((transition) => transition.finish()))`;

/** Axe finds nothing serious, at the width of a desk and of a phone, in both colour schemes. */
export async function checkAccess(page: Page): Promise<void> {
  for (const [name, size] of Object.entries(SIZES)) {
    await page.resize(size);
    for (const scheme of ['light', 'dark'] as const) {
      await page.useScheme(scheme);
      await page.run(SHOWN);
      expect(await seriousFindings(page), `${name}, ${scheme}`).toEqual([]);
    }
  }
  await page.useScheme('light');
  await page.resize(SIZES.desk);
}

/** Nothing is cut off or wider than the window, and axe finds nothing serious, in both colour schemes. */
export async function checkLooks(page: Page): Promise<void> {
  for (const [name, size] of Object.entries(SIZES)) {
    await page.resize(size);
    expect(await overflowing(page), `too wide for a ${name}`).toEqual([]);
  }
  await checkAccess(page);
  await page.resize(NARROWEST);
  expect(await overflowing(page), 'too wide for the narrowest window').toEqual([]);
  await page.resize(SIZES.desk);
}

/** Finds elements that reach beyond the window, or whose content reaches beyond them without a way to scroll to it or an ellipsis. */
function overflowing(page: Page): Promise<string[]> {
  return page.run(`[...document.querySelectorAll('body, body *')].filter((element) => {
    if (element.closest('.unseen') !== null) return false;
    const { left, right, width } = element.getBoundingClientRect();
    return width > 0 && (left < -0.5 || right > innerWidth + 0.5 || (element instanceof HTMLElement && element.scrollWidth > element.clientWidth + 1
      && element.clientWidth > 0 && getComputedStyle(element).display !== 'inline' && getComputedStyle(element).textOverflow !== 'ellipsis'
      && element.tagName !== 'SELECT' && element.tagName !== 'INPUT'));
  }).map((element) => element.outerHTML.slice(0, 120))`);
}

async function seriousFindings(page: Page): Promise<readonly string[]> {
  if (!(await page.run<boolean>('window.axe !== undefined'))) await page.run(`${axe};0`);
  const findings = await page.run<readonly Finding[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, impact, nodes }) =>
      ({ id, impact, nodes: nodes.map(({ target, failureSummary }) => ({ target, failureSummary })) })))`,
  );
  return findings.filter(({ impact }) => impact === 'serious' || impact === 'critical').map((finding) => JSON.stringify(finding));
}

/** Returns the id, or text, of each element that gets the focus, from where it is on: one for each press of Tab. */
export async function tabOrder(page: Page, presses: number): Promise<readonly string[]> {
  const order: string[] = [];
  for (let press = 0; press < presses; press += 1) {
    await page.press('Tab');
    order.push(await focused(page));
  }
  return order;
}

export function focused(page: Page): Promise<string> {
  return page.run('document.activeElement?.id || document.activeElement?.textContent || document.activeElement?.tagName || ""');
}

/** Saves a picture in `docs/images/` where `PARLEY_SCREENSHOTS=true`: the pictures of the documentation are those of the tests. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  if (process.env['PARLEY_SCREENSHOTS'] !== 'true') return;
  const file = fileURLToPath(new URL(`../../../docs/images/${name}.webp`, import.meta.url));
  await mkdir(dirname(file), { recursive: true });
  await page.resize({ width: SIZES.desk.width, height: 960 });
  await page.run('document.activeElement?.blur(); scrollTo(0, 0)');
  await writeFile(file, await page.screenshot());
  await page.resize(SIZES.desk);
}
