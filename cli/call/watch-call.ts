/** Prints a call while it goes on: what is said and done, until it is over. */
import type { RestClient } from '../../api/client/rest-client.ts';
import { sleep, type Clock } from '../../platform/clock.ts';
import type { ServerEvent } from '../../platform/server-events.ts';
import { UserError } from '../../platform/user-error.ts';
import { printable } from '../printable.ts';

/** Pause before the events are asked for once more, in milliseconds. */
const AGAIN_MS = 1_000;
/** Reasons of the api for which asking again is of no use. */
const FINAL: ReadonlySet<string> = new Set(['key_refused', 'call_deleted']);

export interface WatchedEnd {
  readonly call_status: string;
  readonly call_finish_reason: string;
  readonly call_duration_seconds: number;
}

export interface WatchOptions {
  readonly call: string;
  readonly rest: Pick<RestClient, 'events'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onEvent: (event: ServerEvent) => void;
}

/**
 * Follows a call until it is over, also across a restart of the api.
 * @returns how it ended; undefined where the signal aborted
 * @throws UserError where the api refuses, or doesn't answer
 */
export async function watchCall({ call, rest, clock, signal, onEvent }: WatchOptions): Promise<WatchedEnd | undefined> {
  let last: string | undefined;
  let end: WatchedEnd | undefined;
  let refused: string | undefined;
  const take = (event: ServerEvent): void => {
    last = event.id ?? last;
    onEvent(event);
    if (event.event === 'end') end = event.data as WatchedEnd;
    const { reason, message } = event.data as { readonly reason?: string; readonly message?: string };
    if (event.event === 'closed' && reason !== undefined && FINAL.has(reason)) refused = message ?? reason;
  };
  while (!signal.aborted) {
    const query = last === undefined ? '' : `?last_event_id=${last}`;
    await rest.events(`/v1/calls/${encodeURIComponent(call)}/events${query}`, take, { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (end !== undefined) return end;
    if (refused !== undefined) throw new UserError(`${call}: ${refused}`);
    await sleep(clock, AGAIN_MS, signal).catch(() => undefined);
  }
  return undefined;
}

/** Returns the line for people; undefined for an event that has none. */
export function lineOf({ event, data }: ServerEvent): string | undefined {
  const of = data as Readonly<Record<string, unknown>>;
  switch (event) {
    case 'message':
      return `${of['role'] === 'agent' ? 'agent' : 'user '}  ${shown(of['content'])}${of['interrupted'] === true ? ' —' : ''}`;
    case 'tool_call':
      return `tool   ${shown(of['name'])} ${of['is_error'] === true ? 'failed' : 'done'} after ${String(of['duration_ms'])} ms`;
    case 'end':
      return `${shown(of['call_status'])}: ${shown(of['call_finish_reason'])} after ${Number(of['call_duration_seconds']).toFixed(1)} s`;
    default:
      return undefined;
  }
}

const shown = (text: unknown): string => printable(String(text).trim().replaceAll(/\s+/g, ' '));
