/** The documentation as a site: the Markdown of the repository as it is, in the order of docs/README.md. A dead link fails the build. */
import { cpSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

import { defineConfig, type DefaultTheme, type MarkdownEnv } from 'vitepress';

import { LOGO_ADDRESS } from '../../platform/logo.ts';
import { version } from '../../platform/version.ts';

const root = join(import.meta.dirname, '../..');
/** Files that pages link to and that are no pages. */
const linked = new Set<string>();

/**
 * Gives code the room that a page has, and pale captions a colour to read. The key of the search stands in its button without being
 * text: what is seen of a button has to be in its name, for those who say it to their computer.
 */
const STYLE = `
.VPDoc.has-aside .content-container { max-width: 48rem; }
.vp-doc [class*='language-'] > span.lang { color: var(--vp-c-text-2); }
.DocSearch-Button .DocSearch-Button-Keys { display: none; }
@media (min-width: 768px) { .DocSearch-Button-Placeholder::after { content: '/'; margin-left: 1.5rem; color: var(--vp-c-text-2); } }
`;

export default defineConfig({
  title: 'Parley',
  description: 'A voice-agent platform whose configuration is Kubernetes resources',
  head: [
    ['link', { rel: 'icon', href: LOGO_ADDRESS }],
    ['style', {}, STYLE],
  ],
  srcDir: root,
  srcExclude: ['!(clients|docs|examples)/**/*', 'AGENTS.md'],
  outDir: join(root, 'dist/site'),
  cacheDir: join(root, 'node_modules/.cache/vitepress'),
  rewrites: (file) => file.replace(/README\.md$/, 'index.md'),
  markdown: {
    // The colours of these are strong enough to read.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // As git hosts make anchors.
    anchor: {
      slugify: (title) =>
        title
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
          .replaceAll(/\s/g, '-'),
    },
    config: (md) => {
      md.core.ruler.push('pages_as_on_git_hosts', ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          // Vue would read `{{name}}` in code as an expression.
          if (token.type === 'code_inline') token.attrSet('v-pre', '');
          const address = token.type === 'link_open' ? token.attrGet('href') : null;
          if (address === null || /^([a-z]+:|#)/.test(address)) continue;
          token.attrSet('href', address.replace('README.md', 'index.md'));
          if (/\.(json|yaml)$/.test(address)) linked.add(posix.join(posix.dirname((env as MarkdownEnv).relativePath), address));
        }
      });
    },
  },
  themeConfig: {
    logo: LOGO_ADDRESS,
    nav: [
      { text: 'REST API', link: '/docs/reference/rest' },
      { text: version, link: '/CHANGELOG' },
    ],
    sidebar: sidebarOf(readFileSync(join(root, 'docs/README.md'), 'utf8')),
    outline: [2, 3],
    search: { provider: 'local', options: { miniSearch: { searchOptions: { combineWith: 'AND' } } } },
  },
  buildEnd: ({ outDir }) => {
    for (const file of linked) cpSync(join(root, file), join(outDir, file));
  },
});

/** A group for each heading, with the links of the list below it. */
function sidebarOf(index: string): DefaultTheme.SidebarItem[] {
  const [, ...groups] = index.split(/^## /m);
  return groups.map((group) => ({
    text: group.split('\n', 1)[0] ?? '',
    items: [...group.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, text = '', file = '']) => ({
      text,
      link: `/${posix.join('docs', file).replace(/(README)?\.md$/, '')}`,
    })),
  }));
}
