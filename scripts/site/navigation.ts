/** The order of the pages, out of docs/README.md: a heading for each group, a list of links below it. Pure. */
import { posix } from 'node:path';

export interface NavigationLink {
  /** File in the repository. */
  readonly file: string;
  readonly title: string;
  /** What follows the link in its line. */
  readonly about: string;
}

export interface NavigationGroup {
  readonly title: string;
  readonly links: readonly NavigationLink[];
}

export function navigationOf(index: string): readonly NavigationGroup[] {
  const [, ...groups] = index.split(/^## /m);
  return groups.map((group) => {
    const [title = '', ...rest] = group.split('\n');
    // Lines that are wrapped belong to the item above.
    const items = rest.join('\n').split(/^- /m).slice(1);
    return { title, links: items.flatMap(linksOf) };
  });
}

function linksOf(item: string): readonly NavigationLink[] {
  const text = item.replaceAll(/\s+/g, ' ').trim();
  const found = [...text.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)];
  const about = found.length === 1 ? text.slice(text.indexOf(')') + 1).replace(/^: /, '') : '';
  return found.map(([, title = '', file = '']) => ({ file: posix.join('docs', file), title: capitalised(title), about }));
}

function capitalised(text: string): string {
  return /^(kubectl|parley) /.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}
