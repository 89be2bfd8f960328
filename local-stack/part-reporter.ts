import type { Console } from './console.ts';
import type { StateFile } from './state.ts';
import type { PartEvent } from './supervisor.ts';

/** Turns the supervisor's events into lines. */
export class PartReporter {
  readonly #console: Console;
  readonly #state: StateFile;
  #phase: 'starting' | 'running' | 'stopping' = 'starting';
  readonly #diedAt = new Map<string, number>();

  constructor(console: Console, state: StateFile) {
    this.#console = console;
    this.#state = state;
  }

  startedUp(): void {
    this.#phase = 'running';
  }

  stopping(): void {
    this.#phase = 'stopping';
    this.#console.line('stopping');
  }

  tell(event: PartEvent): void {
    this.#state.record(event);
    const { part, state, reason } = event;
    if (this.#phase === 'stopping') {
      this.#console.status('stop', state === 'stopping' ? `  stopping ${part}` : undefined);
      return;
    }
    if (state === 'preparing' || state === 'starting') this.#console.status(part, `  ${part} ${state}`);
    else this.#console.status(part, undefined);
    if (reason !== undefined && state === 'starting') {
      this.#diedAt.set(part, event.elapsedMs);
      this.#console.line(`! ${part} ${reason}; it starts again`);
    } else if (state === 'failed') {
      this.#console.line(`✗ ${reason ?? part}`);
    } else if (state === 'ready') {
      const diedAt = this.#diedAt.get(part);
      this.#console.line(
        diedAt === undefined
          ? `✓ ${part} ready after ${(event.elapsedMs / 1000).toFixed(1)} s`
          : `✓ ${part} is back after ${((event.elapsedMs - diedAt) / 1000).toFixed(1)} s`,
      );
      this.#diedAt.delete(part);
    }
  }
}
