/** The HTML around a page. Pure. */
import type { NavigationGroup } from './navigation.ts';
import { addressOf, relativeAddress } from './source-files.ts';

export interface PageLayout {
  /** Of the page, in the site. */
  readonly address: string;
  readonly title: string;
  readonly version: string;
  readonly navigation: readonly NavigationGroup[];
}

export function pageHtml(layout: PageLayout, content: string): string {
  return frame(layout, `<nav class="pages" aria-label="Pages">${navigationHtml(layout)}</nav>\n<main>${content}</main>`);
}

/** @param introduction the paragraphs of the README above its first heading */
export function landingHtml(layout: PageLayout, introduction: string): string {
  const groups = layout.navigation.map(
    ({ title, links }) =>
      `<section><h2>${escape(title)}</h2><ul>${links
        .map(({ file, title: name, about }) => {
          const href = relativeAddress(layout.address, addressOf(file));
          return `<li><a href="${href}">${escape(name)}</a>${about === '' ? '' : `<span>${escape(withoutMarks(about))}</span>`}</li>`;
        })
        .join('')}</ul></section>`,
  );
  const begin = relativeAddress(layout.address, addressOf('README.md'));
  return frame(
    layout,
    `<main class="landing"><h1>Parley</h1>${introduction}<p class="begin"><a class="button" href="${begin}">Take the tour</a>
<a href="${relativeAddress(layout.address, addressOf('docs/install.md'))}">Install</a>
<a href="${relativeAddress(layout.address, addressOf('docs/reference/rest.md'))}">REST API</a>
<a href="${relativeAddress(layout.address, addressOf('CHANGELOG.md'))}">What is new</a></p><div class="groups">${groups.join('\n')}</div></main>`,
  );
}

function frame({ address, title, version }: PageLayout, body: string): string {
  const base = relativeAddress(address, 'index.html').replace(/index\.html$/, '');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title === 'Parley' ? title : `${title} – Parley`)}</title>
<link rel="stylesheet" href="${base}site.css">
<script src="${base}search-index.js" defer></script>
<script src="${base}search.js" defer></script>
</head>
<body data-base="${base}">
<header><a class="home" href="${base}index.html">Parley <small>${escape(version)}</small></a>
<div class="search" role="search"><input id="query" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off">
<ul id="results" aria-live="polite" hidden></ul></div></header>
${body}
</body>
</html>
`;
}

function navigationHtml({ address, navigation }: PageLayout): string {
  return navigation
    .map(
      ({ title, links }) =>
        `<details${links.some(({ file }) => addressOf(file) === address) ? ' open' : ''}><summary>${escape(title)}</summary><ul>${links
          .map(({ file, title: name }) => {
            const current = addressOf(file) === address ? ' aria-current="page"' : '';
            return `<li><a href="${relativeAddress(address, addressOf(file))}"${current}>${escape(name)}</a></li>`;
          })
          .join('')}</ul></details>`,
    )
    .join('\n');
}

function withoutMarks(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('`', '');
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
