import { VectorStoreError } from '../vector-store-error.ts';

/** What Milvus puts into an answer; calls that fail don't throw. */
export interface MilvusStatus {
  readonly code?: number;
  readonly error_code?: string | number;
  readonly reason?: string;
}

/** The collection isn't there (100) or isn't loaded (101): somebody dropped or released it. Source: Milvus, pkg/util/merr/errors.go. */
const lost = new Set([100, 101]);

export function isLost(status: MilvusStatus): boolean {
  return lost.has(status.code ?? 0);
}

/** @throws VectorStoreError when the status says anything but success */
export function requireSuccess(operation: string, status: MilvusStatus): void {
  const code = status.code ?? 0;
  if (code === 0 && (status.error_code === undefined || status.error_code === 'Success' || status.error_code === 0)) return;
  // 1100 to 1199 are about parameters, 1400 to 1499 about permissions. Whatever else goes wrong may go right later.
  const refused = (code >= 1100 && code < 1200) || (code >= 1400 && code < 1500);
  throw new VectorStoreError(
    refused ? 'refused' : 'unavailable',
    `Milvus did not ${operation}: ${status.reason ?? 'no reason given'} (code ${code})`,
  );
}

/** Codes of gRPC that another attempt won't mend: INVALID_ARGUMENT, PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED. */
const refusals = new Set([3, 7, 12, 16]);

/** Turns whatever the client threw into a {@link VectorStoreError}. */
export function toMilvusError(operation: string, error: unknown): VectorStoreError {
  if (error instanceof VectorStoreError) return error;
  // The client throws answers, too, where one call of ours makes several of its own.
  if (typeof error === 'object' && error !== null && 'status' in error) {
    try {
      requireSuccess(operation, error.status as MilvusStatus);
    } catch (failure) {
      if (failure instanceof VectorStoreError) return failure;
    }
  }
  const code = (error as { readonly code?: unknown } | null)?.code;
  const message = error instanceof Error ? error.message : String(error);
  return new VectorStoreError(
    typeof code === 'number' && refusals.has(code) ? 'refused' : 'unavailable',
    `Milvus did not ${operation}: ${message}`,
    { cause: error },
  );
}
