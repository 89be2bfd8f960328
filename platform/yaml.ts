/** Reads YAML that others wrote: a few lines of aliases can stand for more than any memory holds. */
import { isAlias, isCollection, isPair, isScalar, LineCounter, parseAllDocuments, type Document, type ParsedNode } from 'yaml';

import { KUBERNETES_YAML } from './kubernetes-yaml.ts';

export class YamlError extends Error {
  override readonly name = 'YamlError';
  /** Line of the fault, from 1; undefined where the text is at fault as a whole. */
  readonly line: number | undefined;

  constructor(message: string, { line, cause }: { readonly line?: number; readonly cause?: unknown } = {}) {
    super(message, { cause });
    this.line = line;
  }
}

export interface YamlDocument {
  readonly value: unknown;
  readonly document: Document.Parsed;
  /** Line of a position in the text, from 1. */
  readonly lineAt: (position: number) => number;
}

export interface YamlOptions {
  /** YAML 1.2 by default; `kubernetes` reads scalars by {@link KUBERNETES_YAML}. */
  readonly dialect?: 'kubernetes';
  /** Most characters that the aliases of a document may add to it; a value counts as {@link VALUE_SIZE}, and its text. */
  readonly maxExpansion?: number;
}

const VALUE_SIZE = 100;
const MAX_EXPANSION = 10_000_000;
/** The number of aliases is limited, because the library looks for the anchor of each among all those before. */
const MAX_ALIASES = 50_000;

/** @throws YamlError for text that is no YAML, and for aliases that stand for too much */
export function readYaml(text: string, { dialect, maxExpansion = MAX_EXPANSION }: YamlOptions = {}): readonly YamlDocument[] {
  const lines = new LineCounter();
  const lineAt = (position: number): number => lines.linePos(position).line;
  const documents = attempt(() =>
    parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, ...(dialect === 'kubernetes' && KUBERNETES_YAML) }),
  );
  return [...documents].map((document) => {
    const [fault] = document.errors;
    if (fault !== undefined) throw new YamlError(fault.message, { line: lineAt(fault.pos[0]), cause: fault });
    const { aliases, expansion } = attempt(() => measureAliases(document.contents));
    if (aliases > MAX_ALIASES) throw new YamlError(`it has more than ${MAX_ALIASES} aliases`);
    if (expansion > maxExpansion) throw new YamlError('its aliases stand for too much: write what they stand for, or less of it');
    return { document, lineAt, value: attempt(() => document.toJS({ maxAliasCount: -1 }) as unknown) };
  });
}

/** Words the library's errors for readers: a value nested a thousand times is more than the stack holds; an alias may have no anchor. */
function attempt<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof RangeError) throw new YamlError('it is nested too deeply', { cause });
    throw new YamlError((cause as Error).message, { cause });
  }
}

/** Counts the aliases, and how much they add to the text, in {@link YamlOptions.maxExpansion}'s measure. */
function measureAliases(contents: ParsedNode | null): { readonly aliases: number; readonly expansion: number } {
  const sizes = new Map<string, number>();
  let [aliases, written] = [0, 0];
  const sizeOf = (node: unknown): number => {
    if (isPair(node)) return sizeOf(node.key) + sizeOf(node.value);
    if (isAlias(node)) {
      aliases += 1;
      return sizes.get(node.source) ?? 0;
    }
    if (!isScalar(node) && !isCollection(node)) return 0;
    const own = VALUE_SIZE + (isScalar(node) ? String(node.value).length : 0);
    written += own;
    // Inside itself an alias stands for no end of values.
    if (node.anchor !== undefined) sizes.set(node.anchor, Infinity);
    const size = isCollection(node) ? node.items.reduce<number>((sum, item) => sum + sizeOf(item), own) : own;
    if (node.anchor !== undefined) sizes.set(node.anchor, size);
    return size;
  };
  const size = sizeOf(contents);
  return { aliases, expansion: size - written };
}
