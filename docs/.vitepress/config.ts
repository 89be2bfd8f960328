/** The documentation as a site: the Markdown of the repository as it is, in the order of docs/README.md. A dead link fails the build. */
import { cpSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

import { defineConfig, type DefaultTheme, type MarkdownEnv } from 'vitepress';

import { version } from '../../platform/version.ts';

const root = join(import.meta.dirname, '../..');
/** Files that pages link to and that are no pages. */
const linked = new Set<string>();

export default defineConfig({
  title: 'Parley',
  description: 'A voice-agent platform whose configuration is Kubernetes resources',
  // Browsers would ask for /favicon.ico.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcDir: root,
  srcExclude: ['!(clients|docs|examples)/**/*', 'AGENTS.md'],
  outDir: join(root, 'dist/site'),
  cacheDir: join(root, 'node_modules/.cache/vitepress'),
  rewrites: (file) => file.replace(/README\.md$/, 'index.md'),
  markdown: {
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
    collapsed: false,
    items: [...group.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, text = '', file = '']) => ({
      text,
      link: `/${posix.join('docs', file).replace(/(README)?\.md$/, '')}`,
    })),
  }));
}
