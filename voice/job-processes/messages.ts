/** What an agent server and its job processes send each other, as JSON. */
import type { RunningJobInfo } from '@livekit/agents';

export type ToJobProcess =
  | { readonly case: 'start'; readonly job: RunningJobInfo }
  /** One job, or all of them: they end their calls, and report that they ended. */
  | { readonly case: 'stop'; readonly jobId?: string }
  /** Ends the process, which has no job any more. */
  | { readonly case: 'exit' }
  | { readonly case: 'ping' }
  | { readonly case: 'inferred'; readonly id: number; readonly data?: unknown; readonly error?: string };

export type FromJobProcess =
  /** It can take calls. */
  | { readonly case: 'ready' }
  /** A call has entered its room. */
  | { readonly case: 'entered'; readonly jobId: string }
  | { readonly case: 'ended'; readonly jobId: string }
  | { readonly case: 'pong'; readonly rssBytes: number }
  /** Something was thrown that belongs to no call, or may have left something undone: the process is to take no more calls. */
  | { readonly case: 'worn' }
  | { readonly case: 'infer'; readonly id: number; readonly method: string; readonly data: unknown };
