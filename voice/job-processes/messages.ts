/** The messages between an agent server and its job processes, as JSON through the channel that Node opens to a child. */
import type { RunningJobInfo } from '@livekit/agents';

import type { ProviderKeyErrorReason, ProviderPart, SecretKeyRef } from '../../calls/provider-access/index.ts';
import type { CountTokens } from '../../calls/usage/token-usage.ts';
import type { UsageReport } from '../../calls/usage/usage-metrics.ts';
import type { Measurement } from '../../platform/telemetry/gen-ai/model-requests.ts';

export type KeyAnswer = { readonly value: string } | { readonly reason: ProviderKeyErrorReason; readonly message: string };

/** Services of the role for its job processes. Arguments and results travel as JSON; of an error, the text. */
export interface RoleServices {
  /** Runs a model, of which there is one for all processes. */
  readonly infer: (method: string, data: unknown) => Promise<unknown>;
  /** Reads a key, from a cache: otherwise each process would ask the Kubernetes API again, and no call could begin while that is away. */
  readonly readKey: (org: string, ref: SecretKeyRef) => Promise<KeyAnswer>;
  /** Counts tokens: a tokenizer in each process would take 67 MB. */
  readonly countTokens: CountTokens;
  readonly reportTakeover: (part: ProviderPart) => Promise<void>;
  readonly reportRedaction: (kind: string) => Promise<void>;
  readonly reportMeasurements: (measurements: readonly Measurement[]) => Promise<void>;
  readonly reportUsage: (report: UsageReport) => Promise<void>;
}

export type ServiceName = keyof RoleServices;

export type ToJobProcess =
  | { readonly case: 'start'; readonly job: RunningJobInfo }
  /** Ends the calls of one job, or of all of them; the process reports that they ended. */
  | { readonly case: 'stop'; readonly jobId?: string }
  /** Ends the process, which has no job any more. */
  | { readonly case: 'exit' }
  | { readonly case: 'ping' }
  | { readonly case: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: string };

export type FromJobProcess =
  | { readonly case: 'ready' }
  | { readonly case: 'entered'; readonly jobId: string }
  | { readonly case: 'ended'; readonly jobId: string }
  | { readonly case: 'pong'; readonly rssBytes: number }
  /** Something was thrown that belongs to no call, or may have left something undone: the process is to take no more calls. */
  | { readonly case: 'worn' }
  | { readonly case: 'ask'; readonly id: number; readonly service: ServiceName; readonly args: readonly unknown[] };
