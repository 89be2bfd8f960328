import type { ParserKind } from './extension.ts';
import type { ProcessReport } from './messages.ts';

/** Limits after which a healthy process is replaced nevertheless. */
export interface RecycleLimits {
  readonly documents: number;
  /** Resident memory after a file. */
  readonly residentBytes: number;
  readonly processorMs: number;
  readonly ageMs: number;
}

export const RECYCLE_LIMITS: Readonly<Record<ParserKind, RecycleLimits>> = {
  plain: { documents: 1000, residentBytes: 160_000_000, processorMs: 60_000, ageMs: 600_000 },
  binary: { documents: 50, residentBytes: 300_000_000, processorMs: 60_000, ageMs: 600_000 },
};

/** The reason why a process ended: the label of a metric, so the list is closed. */
export type ProcessEndReason = RecycleReason | 'limit' | 'crashed' | 'cancelled' | 'idle' | 'large_file' | 'memory_budget' | 'closed';
type RecycleReason = 'documents' | 'memory' | 'age' | 'failure' | 'remains';

export interface AfterFile {
  readonly kind: ParserKind;
  /** Number of files that the process has read, with this one. */
  readonly documents: number;
  readonly ageMs: number;
  readonly report: ProcessReport;
  /** `refused` by one of Parley's own checks, or `failed` in a library. */
  readonly outcome: 'read' | 'refused' | 'failed';
}

/** @returns the reason why the process must not read another file; undefined if it may */
export function recycleReason({ kind, documents, ageMs, report, outcome }: AfterFile, limits: RecycleLimits): RecycleReason | undefined {
  if (outcome === 'failed' || (outcome === 'refused' && kind === 'binary')) return 'failure';
  if (report.remains !== undefined) return 'remains';
  if (report.residentBytes > limits.residentBytes) return 'memory';
  if (documents >= limits.documents) return 'documents';
  return ageMs >= limits.ageMs || report.processorMs >= limits.processorMs ? 'age' : undefined;
}
