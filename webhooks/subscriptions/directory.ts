import type { Credentials } from './credentials.ts';
import type { Endpoint, EventToMatch } from './endpoint.ts';

/** How far a process must have read the API server's history before it may decide about an organisation's events. */
export interface Watermark {
  /** resourceVersion of the last write to a subscription of the organisation; absent or empty: none. */
  readonly subscriptions?: string;
  /** resourceVersion of the last write to one of its Secrets. */
  readonly secrets?: string;
}

export interface EndpointChange {
  readonly uid: string;
  /** Absent: it is no endpoint any more. */
  readonly endpoint?: Endpoint;
  readonly previous?: Endpoint;
}

/** Every endpoint of the installation, from watch caches: answers without asking anybody. */
export interface EndpointDirectory {
  /** Returns the endpoints that get the event, in no particular order; also inactive ones: the caller decides what becomes of their deliveries. */
  matching(event: EventToMatch): readonly Endpoint[];
  byUid(uid: string): Endpoint | undefined;
  list(org?: string): readonly Endpoint[];
  /**
   * Returns the signing keys and headers as they are now.
   *
   * @throws DeliverySecretError
   */
  credentials(endpoint: Endpoint): Promise<Credentials>;
  /** Called after each change of the directory; not for existing endpoints. @returns a function that removes the listener */
  onChange(listener: (change: EndpointChange) => void): () => void;
  /** Resolves once the first listings are complete. Rejects with the signal's reason or when stopped. */
  synced(signal?: AbortSignal): Promise<void>;
  /** Whether what was written up to the watermark may be missing here. */
  behind(org: string, watermark: Watermark): boolean;
  /** Resolves once the directory is not behind any more. Rejects with the signal's reason or when stopped. */
  waitFor(org: string, watermark: Watermark, signal?: AbortSignal): Promise<void>;
  /** Changes of subscriptions and of agents arrive as they happen. */
  readonly connected: boolean;
  start(): void;
  stop(): Promise<void>;
}
