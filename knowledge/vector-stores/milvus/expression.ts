/** Writes Milvus' filter expressions. Values are written into the text, because Milvus Lite has no templates for them. */
import { createHash } from 'node:crypto';

import { type CollectionRef, type Scalar, type VectorQuery, VectorStoreError } from '../vector-store.ts';

/** Returns a collection's name within Milvus, where those of all organisations stand side by side. */
export function collectionScope({ org, collectionId }: Pick<CollectionRef, 'org' | 'collectionId'>): string {
  return `${org}/${collectionId}`;
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Writes a string of an expression. @throws VectorStoreError `invalid` for other control characters, which have no notation */
export function literal(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/.test(text) || !text.isWellFormed()) {
    throw new VectorStoreError('invalid', 'a value in a filter has a control character, or half of a surrogate pair');
  }
  return `"${text.replace(/[\\"\n\r\t]/g, (character) => escapes[character] ?? character)}"`;
}

/**
 * Returns a field with its value as one word: equal when the field, the value's type and the value are. It is hexadecimal, so that it can't
 * be taken for syntax, and has the same length for any value.
 */
export function tagOf(field: string, value: Scalar): string {
  // JSON knows no -0, which equals 0.
  return createHash('sha256')
    .update(JSON.stringify([field, value]))
    .digest('hex')
    .slice(0, 40);
}

/** Puts the tenant's part in front, and the user's condition in parentheses behind it. */
export function expressionOf(
  collection: Pick<CollectionRef, 'org' | 'collectionId'>,
  { filter, exclude, document }: Pick<VectorQuery, 'filter' | 'exclude' | 'document'> = {},
): string {
  const parts = [`scope == ${literal(collectionScope(collection))}`];
  if (document !== undefined) parts.push(`document_id == ${literal(document)}`);
  if (exclude !== undefined && exclude.length > 0) parts.push(`document_id not in [${exclude.map(literal).join(', ')}]`);
  const tags = Object.entries(filter ?? {}).map(([field, value]) => literal(tagOf(field, value)));
  if (tags.length > 0) parts.push(`(array_contains_all(tags, [${tags.join(', ')}]))`);
  return parts.join(' and ');
}
