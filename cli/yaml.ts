/**
 * Writes YAML that every reader reads alike, kubectl's YAML 1.1 and the YAML 1.2 of others. It is a module of its own because the bundle
 * keeps the names of a CommonJS package only for a static import (scripts/nameless-imports.ts).
 */
import { Document, Scalar, visit } from 'yaml';

import { readYaml } from '../platform/yaml.ts';
import { printable } from './printable.ts';

/** Matches words that are a word in every version of YAML, unless the library knows better (`yes`, `null`). */
const PLAIN = /^[A-Za-z][A-Za-z0-9 _./@-]*$/;
/** Matches what YAML 1.1 refuses or folds when it stands there as it is, and what turns the direction of text around. */
// oxlint-disable-next-line no-control-regex -- they are what this is about
const FOREIGN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/;

const order = ['apiVersion', 'kind', 'type', 'metadata', 'name', 'namespace', 'labels', 'annotations'];

/** Formats one document. @param options.sorted true to sort by key, with those first that say what an object is */
export function stringifyYaml(value: unknown, { sorted = false }: { readonly sorted?: boolean } = {}): string {
  // The detour drops members that are undefined, and ties to objects that stand twice in it.
  const document = new Document(JSON.parse(JSON.stringify(value)), {
    version: '1.1',
    aliasDuplicateObjects: false,
    ...(sorted && { sortMapEntries: (a, b) => rank(a.key) - rank(b.key) || (text(a.key) < text(b.key) ? -1 : 1) }),
  });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value !== 'string') return;
      // An escape means the character only between double quotes.
      const foreign = FOREIGN.test(node.value) || printable(node.value) !== node.value;
      if (foreign || (!node.value.includes('\n') && !PLAIN.test(node.value))) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document
    .toString({ lineWidth: 0 })
    .replaceAll(
      /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}

function text(key: unknown): string {
  return String(key instanceof Scalar ? key.value : key);
}

function rank(key: unknown): number {
  const at = order.indexOf(text(key));
  return at < 0 ? order.length : at;
}

/** Reads objects as kubectl does. @throws YamlError */
export function fromYaml(content: string): readonly unknown[] {
  return readYaml(content, { dialect: 'kubernetes' }).flatMap(({ value }) => (value === null ? [] : [value]));
}
