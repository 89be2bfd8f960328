/** Notifies watchers of test runs of which agent one was requested, began, got a result or ended. */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { ChannelListener, type Listening } from '../channel-listener.ts';
import type { Database } from '../database.ts';

export const TEST_RUNS_CHANNEL = 'parley_test_runs';

export interface TestRunChanges {
  /** Something changed in the runs of this agent. Called repeatedly, also for the listener's own changes. */
  readonly onChange: (agent: { readonly org: string; readonly name: string }) => void;
  /** Listens, for the first time or after a break: anything may have changed until now. */
  readonly onListening: () => void;
}

/** Postgres may be away, at the start too: it listens again as soon as it can. */
export function listenForTestRuns(
  options: TestRunChanges & { readonly database: Database; readonly clock: Clock; readonly logger?: Logger | undefined },
): Listening {
  const { database, clock, logger, onChange, onListening } = options;
  const listener = new ChannelListener({
    database,
    channel: TEST_RUNS_CHANNEL,
    words: { what: 'test runs', meanwhile: 'what changes meanwhile is looked at afterwards' },
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
