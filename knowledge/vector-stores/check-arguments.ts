/** Refuses arguments alike for every store, so that each takes what another takes. */
import { type CollectionRef, type EqualityFilter, type VectorQuery, type VectorRecord, VectorStoreError } from './vector-store.ts';

export const MOST_DIMENSIONS = 16_000;
const MOST_EXCLUDED = 1_000;
/** Most fields of metadata that an owner may give a document; the document's id comes on top. */
export const MOST_OWN_FIELDS = 256;
export const MOST_FIELDS = MOST_OWN_FIELDS + 1;

const ORGANIZATION = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** Matches printable names without anything that an expression could take for syntax. */
const IDENTIFIER = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/;

/** @throws VectorStoreError `invalid` */
export function checkCollection({ org, collectionId, space }: CollectionRef): void {
  if (!ORGANIZATION.test(org)) throw new VectorStoreError('invalid', 'the organisation of a collection is no name of a namespace');
  checkIdentifier(collectionId, 'a collection');
  if (!Number.isInteger(space.dimension) || space.dimension < 0 || space.dimension > MOST_DIMENSIONS) {
    throw new VectorStoreError('invalid', `a collection has 0 to ${MOST_DIMENSIONS} dimensions, not ${space.dimension}`);
  }
}

/** @throws VectorStoreError `invalid` */
export function checkDocumentId(id: string): void {
  checkIdentifier(id, 'a document');
}

/** @throws VectorStoreError `invalid` */
export function checkRecord(record: VectorRecord, dimension: number): void {
  checkDocumentId(record.documentId);
  if (record.chunkId !== `${record.documentId}:${record.ordinal}`) {
    throw new VectorStoreError('invalid', 'the id of a chunk is not <documentId>:<ordinal>');
  }
  if (!Number.isInteger(record.ordinal) || record.ordinal < 0 || record.ordinal > 2 ** 31 - 1) {
    throw new VectorStoreError('invalid', 'the ordinal of a chunk is no whole number from 0');
  }
  if (!Number.isSafeInteger(record.tieBreaker) || record.tieBreaker < 0) {
    throw new VectorStoreError('invalid', 'the tie breaker of a chunk is no whole number from 0');
  }
  if ((record.dense === undefined) !== (dimension === 0)) {
    throw new VectorStoreError(
      'invalid',
      dimension === 0 ? 'a collection without dense vectors was given one' : 'a chunk lacks the dense vector of its collection',
    );
  }
  if (Object.keys(record.metadata).length > MOST_FIELDS)
    throw new VectorStoreError('invalid', `metadata has more than ${MOST_FIELDS} fields`);
  checkScalars(record.metadata, 'metadata');
}

/** @throws VectorStoreError `invalid` */
export function checkQuery(query: VectorQuery, dimension: number): void {
  if (!Number.isInteger(query.topK) || query.topK < 1 || query.topK > 1_000) {
    throw new VectorStoreError('invalid', `topK is 1 to 1000, not ${query.topK}`);
  }
  if (query.dense !== undefined && dimension === 0) {
    throw new VectorStoreError('invalid', 'a collection without dense vectors was searched with one');
  }
  if (query.document !== undefined) checkDocumentId(query.document);
  if ((query.exclude?.length ?? 0) > MOST_EXCLUDED)
    throw new VectorStoreError('invalid', `more than ${MOST_EXCLUDED} documents are excluded`);
  query.exclude?.forEach(checkDocumentId);
  checkScalars(query.filter ?? {}, 'a filter');
}

/** Refuses U+0000 and halves of surrogate pairs: Postgres can't store them, so no store does. */
function checkScalars(fields: EqualityFilter, what: string): void {
  for (const [key, value] of Object.entries(fields)) {
    const fine =
      typeof value === 'number' ? Number.isFinite(value) : typeof value === 'boolean' || (typeof value === 'string' && storable(value));
    if (!fine || !storable(key)) throw new VectorStoreError('invalid', `${what} has a value that cannot be stored`);
  }
}

function storable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function checkIdentifier(id: string, what: string): void {
  if (!IDENTIFIER.test(id)) {
    throw new VectorStoreError('invalid', `the id of ${what} is not made of up to 128 letters, digits, and the characters _.:-`);
  }
}
