import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { DispatchStore, EndpointRecord } from '../../store/index.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';
import { reasonToGiveUp } from './auto-disable.ts';
import { disablingOf } from './disabling.ts';

export interface GiveUpOptions {
  readonly store: Pick<DispatchStore, 'disable' | 'endpoints'>;
  readonly directory: Pick<EndpointDirectory, 'byUid'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Switches off the endpoints among those that have just failed that have done nothing else for days.
 *
 * @returns what is known of those then; to be asked again with the next failure when it throws
 * @throws StoreError
 */
export async function giveUpHopeless(
  records: readonly EndpointRecord[],
  { store, directory, clock, logger }: GiveUpOptions,
): Promise<readonly EndpointRecord[]> {
  const disabled: string[] = [];
  for (const record of records) {
    const now = clock.now();
    const reason = record.consecutiveFailures > 0 ? reasonToGiveUp(record, now) : undefined;
    const endpoint = reason === undefined ? undefined : directory.byUid(record.subscriptionUid);
    if (reason === undefined || endpoint === undefined) continue;
    const { org, uid, name, kind } = endpoint;
    if (!(await store.disable({ org, subscriptionUid: uid, ...disablingOf(endpoint, reason, now) }))) continue;
    logger.info({ org, [kind === 'Agent' ? 'agent' : 'subscription']: name, reason }, 'an endpoint was switched off');
    disabled.push(uid);
  }
  return disabled.length === 0 ? [] : store.endpoints({ uids: disabled });
}
