/** The use of models by searches, for those who count it. */
import { z } from 'zod';

/** A request that was answered, or given up: both are paid for. */
export interface ModelUse {
  readonly kind: 'embedding' | 'rerank';
  readonly provider: string;
  readonly model: string;
  /** The texts that were to be embedded; empty where passages were reranked. */
  readonly texts: readonly string[];
  readonly reported: ReportedUse;
}

export interface ReportedUse {
  readonly tokens?: number | undefined;
  /** Cohere's units: one for each hundred passages, more for long ones. */
  readonly searchUnits?: number | undefined;
}

export type OnModelUse = (use: ModelUse) => void;

const count = z.int().min(1).optional().catch(undefined);
const report = z.object({
  usage: z.object({ prompt_tokens: count, total_tokens: count }).catch({}).optional(),
  meta: z
    .object({ billed_units: z.object({ search_units: count }) })
    .optional()
    .catch(undefined),
});

/**
 * Reads the usage from an answer. Never fails, because an answer is useful whatever it reports. Sources: the references of OpenAI, Cohere,
 * Jina and Voyage.
 */
export function reportedUseOf(answer: unknown): ReportedUse {
  const { usage, meta } = report.safeParse(answer).data ?? {};
  return { tokens: usage?.prompt_tokens ?? usage?.total_tokens, searchUnits: meta?.billed_units.search_units };
}
