import type { Table } from '../harness/table.ts';

export interface PartContext {
  /** Folder of the test collections. */
  readonly dataFolder: string | undefined;
  /** One line of what is being done now. */
  readonly progress: (line: string) => void;
}

export interface PartResult {
  /** For the JSON. */
  readonly figures: unknown;
  readonly tables: readonly Table[];
}

/** @throws Error naming what is missing */
export type Part = (context: PartContext) => Promise<PartResult>;
