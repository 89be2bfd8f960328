import type { PartResult } from '../harness/suite.ts';
import type { WebhooksHost } from './host.ts';

/** Amounts of work in a run. */
export interface WebhooksScale {
  /** Turns of each contender. */
  readonly rounds: number;
  /** Length of one turn at a steady rate. */
  readonly seconds: number;
  /** Seconds of a steady rate before anything counts. */
  readonly warmUpSeconds: number;
  /** Deliveries that wait when the dispatcher starts. */
  readonly backlog: number;
  /** Events for the endpoint that hangs. */
  readonly hungBacklog: number;
  /** Number of healthy endpoints next to it. */
  readonly healthy: number;
  /** Events that are written while processes are killed. */
  readonly crashEvents: number;
  /** Number of times that each process is killed. */
  readonly kills: number;
}

export interface WebhooksContext {
  readonly scale: WebhooksScale;
  readonly host: WebhooksHost;
  /** Prints one line about what is being done now. */
  readonly progress: (line: string) => void;
}

/** @throws Error naming what is missing */
export type WebhooksPart = (context: WebhooksContext) => Promise<PartResult>;
