/** Notifies watchers of knowledge bases which of them changed, or had a document taken on, completed, failed or deleted. */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { ChannelListener, type Listening } from '../channel-listener.ts';
import type { Database } from '../database.ts';
import { KNOWLEDGE_CHANNEL } from './collections.ts';

export interface KnowledgeChanges {
  /** Something changed in this knowledge base. Called repeatedly, also for the listener's own changes. */
  readonly onChange: (base: { readonly org: string; readonly name: string }) => void;
  /** Listens, for the first time or after a break: anything may have changed until now. */
  readonly onListening: () => void;
}

/** Postgres may be away, at the start too: it listens again as soon as it can. */
export function listenForChanges(
  options: KnowledgeChanges & { readonly database: Database; readonly clock: Clock; readonly logger?: Logger | undefined },
): Listening {
  const { database, clock, logger, onChange, onListening } = options;
  const listener = new ChannelListener({
    database,
    channel: KNOWLEDGE_CHANNEL,
    words: { what: 'changes of knowledge bases', meanwhile: 'what changes meanwhile is looked at afterwards' },
    clock,
    logger,
    onMessage: (payload) => {
      const slash = payload.indexOf('/');
      if (slash > 0) onChange({ org: payload.slice(0, slash), name: payload.slice(slash + 1) });
    },
    onListening,
  });
  listener.start();
  return { stop: () => listener.stop() };
}
