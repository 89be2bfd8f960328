/** A module of its own: the bundle keeps the names of a CommonJS package only for a static import (scripts/nameless-imports.ts). */
import { stringify } from 'yaml';

export function stringifyYaml(value: unknown): string {
  // The detour drops what is undefined, and ties to objects that stand twice in it.
  return stringify(JSON.parse(JSON.stringify(value)), { lineWidth: 0, aliasDuplicateObjects: false });
}
