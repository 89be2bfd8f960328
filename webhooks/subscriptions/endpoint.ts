/** An endpoint gets events: a WebhookSubscription, or the address that an Agent has for the events of its calls. */
export interface RetryPolicy {
  readonly strategy: 'FixedDelay' | 'ExponentialBackoff';
  /** Attempts after the first one, 0 to 10. */
  readonly maxRetries: number;
  /** The wait of FixedDelay, the longest one of ExponentialBackoff, in milliseconds. */
  readonly delayMs: number;
}

/** A header as it is configured; its value may have to be read first. */
export type HeaderSource =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly secret: { readonly name: string; readonly key: string } };

export interface SubscriptionScope {
  /** Names of Agents. */
  readonly agents?: readonly string[];
  readonly workspaces?: readonly string[];
}

export interface Endpoint {
  /** Uid of the subscription, or of the agent. */
  readonly uid: string;
  /** The organisation: the namespace. */
  readonly org: string;
  /** `metadata.name`: the subscription's or agent's id in the API. */
  readonly name: string;
  readonly kind: 'WebhookSubscription' | 'Agent';
  readonly url: string;
  /** Names of events; empty means all that its kind gets. */
  readonly events: readonly string[];
  /** The spec has no `suspend: true`. Only the database knows whether the endpoint was switched off by its failures. */
  readonly active: boolean;
  /** Absent: the whole organisation. */
  readonly scope?: SubscriptionScope;
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
  /** Name of the Secret with the signing keys; absent: unsigned. */
  readonly signingSecret?: string;
  readonly headers: readonly HeaderSource[];
  readonly generation: number;
  /** When a person last asked for a reconcile, in milliseconds since the epoch; absent without a request that says a time. */
  readonly requestedAt?: number | undefined;
  readonly resourceVersion: string;
}

/** The parts of an event that subscriptions match. */
export interface EventToMatch {
  readonly org: string;
  readonly name: string;
  /** `metadata.name` of the agent it is about. */
  readonly agent?: string;
  readonly workspace?: string;
  /** `metadata.uid` of the one subscription it is for. */
  readonly onlySubscription?: string;
  /** `metadata.uid` of the one subscription that does not get it. */
  readonly exceptSubscription?: string;
}
