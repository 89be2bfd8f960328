/** Decides whether a new call is made, or refused because no voice server would welcome its user in time. */
import type { NewCall, PlaceTaken, Store } from '../../store/index.ts';
import { ApiError } from '../http/api-error.ts';
import { callLimitReached, unjoinedLimitReached } from './call-limit.ts';

/** Retry-After, in seconds: calls that begin have begun soon; when a call will end is unknown. */
const RETRY_SECONDS = { starting: 2, full: 5 } as const;

/** Returns the refusal of a call; undefined where the call is made. Pure. */
export function refusalOf({
  reported,
  taken,
  starting,
  reserved,
}: PlaceTaken): { readonly message: string; readonly seconds: number } | undefined {
  // Where no voice server reports, workers go on asking for an agent: one may be starting, or be of the version before.
  if (taken || !reported) return undefined;
  if (reserved) {
    const message =
      'the last places of the voice servers are kept for organisations with fewer calls: try again when one of yours has ended';
    return { message, seconds: RETRY_SECONDS.full };
  }
  return starting
    ? { message: 'more calls begin now than can be welcomed in time: try again in a moment', seconds: RETRY_SECONDS.starting }
    : { message: 'all voice servers have as many calls as they may have: try again when one has ended', seconds: RETRY_SECONDS.full };
}

export interface AdmissionOptions {
  readonly servers: Pick<Store['voiceServers'], 'takePlace'>;
  readonly calls: Pick<Store['calls']['calls'], 'isAtLimit' | 'unjoinedLimit'>;
  /** Name of Parley's agent at the media server; undefined where there is no media server. */
  readonly agentName: string | undefined;
}

export class Admission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** @throws ApiError `unavailable` or `concurrent_call_limit_reached`, with Retry-After; StoreError */
  async admit(call: Pick<NewCall, 'org' | 'createdByKey' | 'unjoinedPercent'>): Promise<void> {
    const { servers, calls, agentName } = this.#options;
    if (agentName === undefined) return;
    // This check comes first: requests of an organisation at its limit would take the places of the others, and make no call.
    if (await calls.isAtLimit(call.org)) throw callLimitReached();
    const limit = await calls.unjoinedLimit(call);
    if (limit !== undefined) throw unjoinedLimitReached(limit);
    const refusal = refusalOf(await servers.takePlace(agentName, call.org));
    if (refusal !== undefined) throw new ApiError('unavailable', refusal.message, { retryAfterSeconds: refusal.seconds });
  }
}
