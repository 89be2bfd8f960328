/** Finds and makes elements of a page. All text goes in as text, never as HTML. */

/** @throws Error where the page and its script don't fit together */
export function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`the page has no ${type.name} #${id}`);
}

type Content = readonly (Node | string)[];

export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>> = {},
  ...content: Content
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...content);
  return made;
}

export function makeSvg(name: string, attributes: Readonly<Record<string, string | number>>, ...content: Content): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value));
  made.append(...content);
  return made;
}

/**
 * Shows `entries` as the children of `list`, in their order. Elements of entries that are as before stay the same, so that focus, open parts and
 * what screen readers have read out stay, too.
 */
export function showList<T extends { readonly key: string }>(
  list: HTMLElement,
  entries: readonly T[],
  makeItem: (entry: T) => HTMLElement,
): void {
  const before = new Map([...list.children].map((child) => [(child as HTMLElement).dataset['key'], child as HTMLElement]));
  const items = entries.map((entry) => {
    const content = JSON.stringify(entry);
    const known = before.get(entry.key);
    if (known?.dataset['content'] === content) return known;
    const made = makeItem(entry);
    made.dataset['key'] = entry.key;
    made.dataset['content'] = content;
    return made;
  });
  const kept = new Set(items);
  for (const child of before.values()) if (!kept.has(child)) child.remove();
  for (const [index, item] of items.entries()) if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null);
}

/** Clears a canvas and returns its context, which draws in CSS pixels and is as sharp as the screen. */
export function cleared(canvas: HTMLCanvasElement) {
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width * devicePixelRatio;
  canvas.height = height * devicePixelRatio;
  const context = canvas.getContext('2d');
  context?.scale(devicePixelRatio, devicePixelRatio);
  return { context, width, height };
}
