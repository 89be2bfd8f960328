/** Notifies watchers of changed objects, on a channel whose payloads are `<organisation>/<name>`. */
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logging.ts';
import { ChannelListener, type Listening } from './channel-listener.ts';
import type { Database } from './database.ts';

export interface ObjectChanges {
  /** Called when this object may have changed: repeatedly, also for the listener's own changes. */
  readonly onChange: (object: { readonly org: string; readonly name: string }) => void;
  /** Called when it listens, for the first time or after a break: anything may have changed until now. */
  readonly onListening: () => void;
}

export interface ListenForChangesOptions extends ObjectChanges {
  readonly database: Database;
  readonly channel: string;
  /** The log's name for the notifications. */
  readonly what: string;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
}

/** Listens again as soon as it can: Postgres may be away, at the start too. */
export function listenForChanges({ what, onChange, ...options }: ListenForChangesOptions): Listening {
  const listener = new ChannelListener({
    ...options,
    words: { what, meanwhile: 'what changes meanwhile is looked at afterwards' },
    onMessage: (payload) => {
      const slash = payload.indexOf('/');
      if (slash > 0) onChange({ org: payload.slice(0, slash), name: payload.slice(slash + 1) });
    },
  });
  listener.start();
  return { stop: () => listener.stop() };
}
