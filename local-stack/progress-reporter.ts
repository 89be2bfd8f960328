import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Console } from './console.ts';
import type { Layout } from './layout.ts';
import type { ComponentEvent } from './supervisor.ts';

/** State that the supervisor writes at every change, for `parley dev status` to read. */
export interface StackState {
  readonly components: readonly {
    readonly name: string;
    readonly state: string;
    readonly pid?: number;
    readonly restarts: number;
    readonly liveUrl?: string;
  }[];
}

const stateFileOf = (layout: Layout): string => join(layout.run, 'state.json');

export function readState(layout: Layout): StackState {
  try {
    return JSON.parse(readFileSync(stateFileOf(layout), 'utf8')) as StackState;
  } catch {
    return { components: [] };
  }
}

/** Turns the supervisor's events into lines, and into the state file. */
export class ProgressReporter {
  readonly #console: Console;
  readonly #stateFile: string;
  readonly #states = new Map<string, object>();
  readonly #exitedAt = new Map<string, number>();
  #stopping = false;

  constructor(console: Console, layout: Layout) {
    this.#console = console;
    this.#stateFile = stateFileOf(layout);
  }

  stopping(): void {
    this.#stopping = true;
    this.#console.line('stopping');
  }

  report({ component, state, pid, restarts, liveUrl, reason, elapsedMs }: ComponentEvent): void {
    this.#states.set(component, { name: component, state, restarts, pid, liveUrl });
    writeFileSync(`${this.#stateFile}.new`, JSON.stringify({ components: [...this.#states.values()] }));
    renameSync(`${this.#stateFile}.new`, this.#stateFile);
    if (this.#stopping) {
      this.#console.status('stop', state === 'stopping' ? `  stopping ${component}` : undefined);
      return;
    }
    this.#console.status(component, state === 'preparing' || state === 'starting' ? `  ${component} ${state}` : undefined);
    if (reason !== undefined && state === 'starting') {
      this.#exitedAt.set(component, elapsedMs);
      this.#console.line(`! ${component} ${reason}; restarting`);
    } else if (state === 'failed') {
      this.#console.line(`✗ ${reason ?? component}`);
    } else if (state === 'ready') {
      const exitedAt = this.#exitedAt.get(component);
      const seconds = ((elapsedMs - (exitedAt ?? 0)) / 1000).toFixed(1);
      this.#console.line(`✓ ${component} ${exitedAt === undefined ? 'ready' : 'is back'} after ${seconds} s`);
      this.#exitedAt.delete(component);
    }
  }
}
