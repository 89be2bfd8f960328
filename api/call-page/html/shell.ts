/** Builds the frame that all pages of the API have: its header leads from one to the next. */
import { LOGO_ADDRESS, LOGO_PATH } from '../../../platform/logo.ts';
import { version } from '../../../platform/version.ts';

/** Names of the pages, by their addresses. */
const pages = { '/call': 'Talk', '/calls': 'Calls', '/docs': 'API' } as const;

type PagePath = keyof typeof pages;

export interface FrameParts {
  readonly path: PagePath;
  readonly title: string;
  /** Addresses of the stylesheets. */
  readonly styles: readonly string[];
  /** Elements of the scripts, as HTML. */
  readonly scripts: string;
  /** Pages that this server doesn't have. */
  readonly without?: readonly PagePath[];
  /** What comes below the header, as HTML. */
  readonly body: string;
}

export function frameHtml({ path, title, styles, scripts, without = [], body }: FrameParts): string {
  const links = Object.entries(pages)
    .filter(([address]) => !without.some((missing) => missing === address))
    .map(([address, name]) => `<a href="${address}"${address === path ? ' aria-current="page"' : ''}>${name}</a>`);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${title} · Parley</title>
    <link rel="icon" href="${LOGO_ADDRESS}">
    ${styles.map((address) => `<link rel="stylesheet" href="${address}">`).join('\n    ')}
  </head>
  <body>
    <header>
      <p class="product"><svg viewBox="0 0 22 20" width="22" height="20" aria-hidden="true"><path d="${LOGO_PATH}"/></svg>Parley</p>
      <nav aria-label="Pages">${links.join('')}</nav>
      <p class="product-version" title="Version of this server">${version}</p>
    </header>
${body}
    ${scripts}
  </body>
</html>
`;
}

export interface PageParts {
  readonly path: PagePath;
  readonly title: string;
  /** Name of the script's file. */
  readonly script: string;
  /** Names the permissions that the API key needs, as HTML. */
  readonly keyNote: string;
  /** The main part of the page, as HTML. */
  readonly main: string;
}

/** Returns a page that asks for an API key first. A page does everything in its script; without it there is nothing to do. */
export function pageHtml({ path, title, script, keyNote, main }: PageParts): string {
  return frameHtml({
    path,
    title,
    styles: ['/call/style.css'],
    scripts: `<script type="module" src="/call/${script}"></script>`,
    body: `    <main id="main">
      <h1 id="title">${title}</h1>
      <noscript><p>This page needs JavaScript.</p></noscript>
      <p id="problem" class="problem" role="alert" hidden></p>

      <form id="key-part" class="card" hidden>
        <label for="key">API key</label>
        <input id="key" type="password" autocomplete="off" spellcheck="false" autocapitalize="none" aria-describedby="key-note" required>
        <p id="key-note" class="quiet">It stays in this page and is forgotten when you close it. ${keyNote}</p>
        <button type="submit" class="primary">Continue</button>
      </form>
${main}
    </main>`,
  });
}
