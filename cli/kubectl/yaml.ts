/** A module of its own: the bundle keeps the names of a CommonJS package only for a static import (scripts/nameless-imports.ts). */
import { Document, Scalar, visit } from 'yaml';

import { printable } from '../printable.ts';

export function stringifyYaml(value: unknown): string {
  // The detour drops what is undefined, and ties to objects that stand twice in it.
  const document = new Document(JSON.parse(JSON.stringify(value)), { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      // Only between double quotes an escape means the character.
      if (typeof node.value === 'string' && printable(node.value) !== node.value) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 0 });
}
