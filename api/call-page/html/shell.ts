/** Builds the frame that both pages share. A page does everything in its script; without it there is nothing to do. */

/** Names of the pages, by their addresses. */
const pages = { '/call': 'Talk', '/calls': 'Calls' } as const;

export interface PageParts {
  readonly path: keyof typeof pages;
  readonly title: string;
  /** Name of the script's file. */
  readonly script: string;
  /** Names the permissions that the API key needs, as HTML. */
  readonly keyNote: string;
  /** The main part of the page, as HTML. */
  readonly main: string;
}

export function pageHtml({ path, title, script, keyNote, main }: PageParts): string {
  const links = Object.entries(pages).map(
    ([address, name]) => `<a href="${address}"${address === path ? ' aria-current="page"' : ''}>${name}</a>`,
  );
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${title} · Parley</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/call/style.css">
  </head>
  <body>
    <header>
      <p class="product"><svg viewBox="0 0 22 20" width="22" height="20" aria-hidden="true"><path d="M2 8v4M6.5 5v10M11 1.5v17M15.5 6v8M20 8.5v3"/></svg>Parley</p>
      <nav aria-label="Pages">${links.join('')}</nav>
    </header>
    <main id="main">
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
    </main>
    <script type="module" src="/call/${script}"></script>
  </body>
</html>
`;
}
