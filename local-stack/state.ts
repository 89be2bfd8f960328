import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Layout } from './layout.ts';
import type { PartEvent } from './supervisor.ts';

/** What `parley dev status` reads: the supervisor writes it at every change. */
export interface StackState {
  readonly parts: readonly { readonly name: string; readonly state: string; readonly pid?: number; readonly restarts: number }[];
}

const fileOf = (layout: Layout): string => join(layout.run, 'state.json');

export class StateFile {
  readonly #file: string;
  readonly #parts = new Map<string, StackState['parts'][number]>();

  constructor(layout: Layout) {
    this.#file = fileOf(layout);
  }

  record(event: PartEvent): void {
    this.#parts.set(event.part, {
      name: event.part,
      state: event.state,
      restarts: event.restarts,
      ...(event.pid === undefined ? {} : { pid: event.pid }),
    });
    writeFileSync(`${this.#file}.new`, JSON.stringify({ parts: [...this.#parts.values()] } satisfies StackState));
    renameSync(`${this.#file}.new`, this.#file);
  }
}

export function readState(layout: Layout): StackState {
  try {
    return JSON.parse(readFileSync(fileOf(layout), 'utf8')) as StackState;
  } catch {
    return { parts: [] };
  }
}
