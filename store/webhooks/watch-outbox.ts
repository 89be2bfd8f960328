import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { ChannelListener } from '../channel-listener.ts';
import type { Database } from '../database.ts';
import type { ClaimOwner } from './claim-owner.ts';
import { OUTBOX_CHANNEL } from './events.ts';

/**
 * Calls back when something may be in the outbox, of whatever organisation, until it is stopped. These are only hints; callers that need to
 * know also poll. While it listens, claims are known by their owner.
 */
export function watchOutbox(
  {
    database,
    owner,
    clock = systemClock,
    logger,
  }: {
    readonly database: Database;
    readonly owner?: ClaimOwner;
    readonly clock?: Clock | undefined;
    readonly logger?: Logger | undefined;
  },
  onOutbox: () => void,
): { stop(): Promise<void> } {
  const listener = new ChannelListener({
    database,
    channel: OUTBOX_CHANNEL,
    words: { what: 'events in the outbox', meanwhile: 'they are looked for every now and then meanwhile' },
    clock,
    logger,
    session: owner?.session,
    onMessage: onOutbox,
    onListening: () => {
      owner?.held();
      onOutbox();
    },
    onLost: () => owner?.lost(),
  });
  listener.start();
  return { stop: () => listener.stop() };
}
