/** Lays out the vectors of one space: one collection of Milvus for each model and dimension, for all organisations. */
import { createHash } from 'node:crypto';

import { type CreateCollectionReq, type CreateIndexSimpleReq, DataType, IndexType, MetricType } from '@zilliz/milvus2-sdk-node';

import { errorMessageOf } from '../../../platform/caught.ts';
import { MOST_FIELDS } from '../check-arguments.ts';
import { type VectorSpace, VectorStoreError } from '../vector-store.ts';

/**
 * Returns a readable beginning, and a hash that tells names apart that read alike. Milvus takes letters, digits and underscores, 255 at
 * most.
 */
export function collectionName({ model, dimension }: VectorSpace): string {
  const readable = model
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .slice(0, 60);
  const hash = createHash('sha256')
    .update(JSON.stringify([model, dimension]))
    .digest('hex')
    .slice(0, 16);
  return `parley_${readable}_${dimension}_${hash}`;
}

/** Scores in units: inner products of whole numbers. */
export const metric = MetricType.IP;

const text = (name: string, max_length: number) => ({ name, data_type: DataType.VarChar, max_length });

export function collectionSchema(space: VectorSpace): CreateCollectionReq {
  return {
    collection_name: collectionName(space),
    enable_dynamic_field: false,
    num_partitions: 64,
    consistency_level: 'Strong',
    fields: [
      // The key is scope, document and ordinal in this order, so that sorted keys are sorted documents.
      { ...text('id', 512), is_primary_key: true },
      { ...text('scope', 256), is_partition_key: true },
      text('chunk_id', 256),
      text('document_id', 128),
      { name: 'ordinal', data_type: DataType.Int64 },
      { name: 'tags', data_type: DataType.Array, element_type: DataType.VarChar, max_capacity: MOST_FIELDS, max_length: 40 },
      { name: 'words', data_type: DataType.SparseFloatVector },
      ...(space.dimension > 0 ? [{ name: 'dense', data_type: DataType.FloatVector, dim: space.dimension }] : []),
    ],
  };
}

export function indexesOf(space: VectorSpace): readonly CreateIndexSimpleReq[] {
  const collection_name = collectionName(space);
  return [
    { collection_name, field_name: 'words', index_name: 'words', index_type: IndexType.SPARSE_INVERTED_INDEX, metric_type: metric },
    ...(space.dimension > 0
      ? [{ collection_name, field_name: 'dense', index_name: 'dense', index_type: IndexType.AUTOINDEX, metric_type: metric }]
      : []),
  ];
}

/** The status in an answer of Milvus; calls that fail don't throw. */
export interface MilvusStatus {
  readonly code?: number;
  readonly error_code?: string | number;
  readonly reason?: string;
}

/** The collection isn't there (100) or isn't loaded (101): it was dropped or released. Source: Milvus, pkg/util/merr/errors.go. */
const LOST = new Set([100, 101]);

export function isLost(status: MilvusStatus): boolean {
  return LOST.has(status.code ?? 0);
}

/** @throws VectorStoreError when the status says anything but success */
export function requireSuccess(operation: string, status: MilvusStatus): void {
  const code = status.code ?? 0;
  if (code === 0 && (status.error_code === undefined || status.error_code === 'Success' || status.error_code === 0)) return;
  // Codes 1100 to 1199 are about parameters, 1400 to 1499 about permissions. All others may succeed later.
  const refused = (code >= 1100 && code < 1200) || (code >= 1400 && code < 1500);
  throw new VectorStoreError(
    refused ? 'refused' : 'unavailable',
    `Milvus did not ${operation}: ${status.reason ?? 'no reason given'} (code ${code})`,
  );
}

/** Codes of gRPC that another attempt won't mend: INVALID_ARGUMENT, PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED. */
const REFUSALS = new Set([3, 7, 12, 16]);

export function toMilvusError(operation: string, error: unknown): VectorStoreError {
  if (error instanceof VectorStoreError) return error;
  // The client also throws answers, where one call of ours makes several of its own.
  if (typeof error === 'object' && error !== null && 'status' in error) {
    try {
      requireSuccess(operation, error.status as MilvusStatus);
    } catch (failure) {
      if (failure instanceof VectorStoreError) return failure;
    }
  }
  const code = (error as { readonly code?: unknown } | null)?.code;
  const message = errorMessageOf(error);
  return new VectorStoreError(
    typeof code === 'number' && REFUSALS.has(code) ? 'refused' : 'unavailable',
    `Milvus did not ${operation}: ${message}`,
    { cause: error },
  );
}
