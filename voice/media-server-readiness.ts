import type { Clock, Timer } from '../platform/clock.ts';
import type { Readiness } from '../platform/lifecycle.ts';

/** Longest silence of a connected agent server, in milliseconds: a few times the 2.5 s between its measurements of the load. */
const SILENT_MS = 15_000;
const PART = 'media server';

/**
 * Tells whether the media server can send calls here. LiveKit's agent server reports that it has registered, but not that it has lost the
 * connection and reconnects; what shows is that it no longer measures its load.
 */
export class MediaServerReadiness {
  readonly #readiness: Readiness;
  readonly #clock: Clock;
  #silence: Timer | undefined;

  constructor({ readiness, clock }: { readonly readiness: Readiness; readonly clock: Clock }) {
    this.#readiness = readiness;
    this.#clock = clock;
    readiness.notReady(PART, 'not registered yet');
  }

  /** Notes that the agent server has registered, or is still connected. */
  seen(): void {
    this.#readiness.ready(PART);
    this.#silence?.cancel();
    this.#silence = this.#clock.after(SILENT_MS, () => this.#readiness.notReady(PART, 'connection lost; reconnecting'));
  }

  close(): void {
    this.#silence?.cancel();
  }
}
