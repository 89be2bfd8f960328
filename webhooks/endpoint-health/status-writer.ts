/**
 * Copies the health of endpoints into the status of their subscriptions: for users of kubectl, and for the operator's
 * conditions. Postgres has the truth, so that a copy may be late: by half a minute for what conditions
 * tell, by five minutes where only times have changed. It costs the API server no more than that.
 */
import { API_VERSION, webhookSubscriptionKind, type WebhookSubscription, type WebhookSubscriptionStatus } from '../../crds/index.ts';
import { KubeError, ResourceClient, timestamp, type Transport } from '../../kube/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { every } from '../../platform/every.ts';
import type { Logger } from '../../platform/logging.ts';
import type { DispatchStore, EndpointRecord } from '../../store/index.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';

export interface StatusWriterOptions {
  readonly store: Pick<DispatchStore, 'takeStatusWrites' | 'giveBackStatusWrites'>;
  readonly directory: Pick<EndpointDirectory, 'byUid'>;
  readonly client: Pick<ResourceClient<WebhookSubscription>, 'applyStatus'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** The fields below belong to it; the operator has the others. */
const FIELD_MANAGER = 'parley-dispatcher';

/** Time between two writes of one subscription's status by all processes together, in milliseconds. */
export const STATUS_EVERY_MS = 30_000;
/** The same where only times have changed: a busy endpoint would otherwise write to etcd all day. */
export const STATUS_TIMES_EVERY_MS = 300_000;
/** Time between two looks, in milliseconds. */
const LOOK_MS = 2_000;
/** Statuses that are written after one look, and at once. With many subscriptions they are written less often, and the API server stays free. */
const LIMIT = 100;
const AT_ONCE = 4;

const FAILURE = 'failed to write the health of endpoints to the status of their subscriptions; trying again';

export function statusClient(transport: Transport): ResourceClient<WebhookSubscription> {
  return new ResourceClient<WebhookSubscription>({
    transport,
    descriptor: webhookSubscriptionKind.descriptor,
    fieldManager: FIELD_MANAGER,
  });
}

/** Returns the endpoint's part of a status. Absent fields are removed. */
export function endpointStatus(
  record: Pick<EndpointRecord, 'disabledAt' | 'disabledReason' | 'lastSuccessAt' | 'lastFailureAt' | 'breaker' | 'failingSince'>,
): WebhookSubscriptionStatus {
  const { disabledAt, disabledReason = '', lastSuccessAt, lastFailureAt, breaker, failingSince } = record;
  return {
    ...(disabledAt !== undefined && { autoDisabled: { since: timestamp(disabledAt), reason: disabledReason } }),
    ...(lastSuccessAt !== undefined && { lastSuccessAt: timestamp(lastSuccessAt) }),
    ...(lastFailureAt !== undefined && { lastFailureAt: timestamp(lastFailureAt) }),
    ...(breaker !== 'closed' && {
      circuitBreaker: {
        state: breaker === 'open' ? 'Open' : 'HalfOpen',
        ...(failingSince !== undefined && { failingSince: timestamp(failingSince) }),
      },
    }),
  };
}

export class StatusWriter {
  readonly #options: StatusWriterOptions;
  #failing = false;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, logger } = this.#options;
    await every({ intervalMs: LOOK_MS, random, clock, logger, failure: FAILURE, signal }, () => this.look(signal));
  }

  /** Writes what is due now. @throws StoreError */
  async look(signal: AbortSignal): Promise<void> {
    const { store, directory } = this.#options;
    const due = await store.takeStatusWrites({ everyMs: STATUS_EVERY_MS, timesEveryMs: STATUS_TIMES_EVERY_MS, limit: LIMIT });
    const left = due.flatMap((record) => {
      const endpoint = directory.byUid(record.subscriptionUid);
      // An agent's own address has no status.
      return endpoint?.kind === 'WebhookSubscription' ? [{ record, endpoint }] : [];
    });
    const unwritten: string[] = [];
    const work = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        if (signal.aborted || !(await this.#write(next.endpoint, next.record, signal))) unwritten.push(next.endpoint.uid);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (unwritten.length > 0) await store.giveBackStatusWrites(unwritten);
  }

  /** @returns false when it is to be tried again */
  async #write({ uid, org, name }: Endpoint, record: EndpointRecord, signal: AbortSignal): Promise<boolean> {
    try {
      const body = {
        apiVersion: API_VERSION,
        kind: webhookSubscriptionKind.descriptor.kind,
        metadata: { name, namespace: org, uid },
        status: endpointStatus(record),
      };
      await this.#options.client.applyStatus(body as WebhookSubscription, { force: true, signal });
      this.#failing = false;
      return true;
    } catch (error) {
      // It was deleted, or deleted and recreated.
      if (error instanceof KubeError && (error.notFound || error.code === 409)) return true;
      this.#complain(error);
      return false;
    }
  }

  #complain(err: unknown): void {
    if (!this.#failing) this.#options.logger.warn({ err }, FAILURE);
    this.#failing = true;
  }
}
