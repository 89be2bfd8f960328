import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { ChannelListener } from '../channel-listener.ts';
import type { Database } from '../database.ts';
import { RELEASES_CHANNEL } from './agent-releases.ts';

export interface WatchReleasesOptions {
  readonly database: Database;
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  /** Called when a person has changed what serves. */
  readonly onChange: (agent: { readonly org: string; readonly agentName: string }) => void;
  /** Called when it listens: changes may have been missed until now. */
  readonly onListening: () => void;
}

/** Calls back when a person has rolled an agent back or promoted its canary, until it is stopped. */
export function watchReleases({ database, clock = systemClock, logger, onChange, onListening }: WatchReleasesOptions): {
  stop(): Promise<void>;
} {
  const listener = new ChannelListener({
    database,
    channel: RELEASES_CHANNEL,
    words: { what: 'rollbacks and promotions', meanwhile: 'statuses show them with the next resync' },
    clock,
    logger,
    onMessage: (payload) => {
      const [org = '', agentName = ''] = payload.split('/');
      onChange({ org, agentName });
    },
    onListening,
  });
  listener.start();
  return { stop: () => listener.stop() };
}
