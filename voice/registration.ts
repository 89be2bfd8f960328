import type { Clock, Timer } from '../platform/clock.ts';
import type { Readiness } from '../platform/lifecycle.ts';

/** LiveKit's agent server (1.9.0) measures its load every 2.5 s while it is connected: this is a few times that, in milliseconds. */
const silentMs = 15_000;
const part = 'media server';

/**
 * Whether the media server can send calls here. Its agent server tells when it has registered, and keeps to itself that it has lost the connection and
 * tries again; what shows is that it asks for its load no more.
 */
export class Registration {
  readonly #readiness: Readiness;
  readonly #clock: Clock;
  #silence: Timer | undefined;

  constructor({ readiness, clock }: { readonly readiness: Readiness; readonly clock: Clock }) {
    this.#readiness = readiness;
    this.#clock = clock;
    readiness.notReady(part, 'not registered yet');
  }

  /** It has registered, or is connected still. */
  seen(): void {
    this.#readiness.ready(part);
    this.#silence?.cancel();
    this.#silence = this.#clock.after(silentMs, () => this.#readiness.notReady(part, 'the connection is lost; it is tried again'));
  }

  close(): void {
    this.#silence?.cancel();
  }
}
