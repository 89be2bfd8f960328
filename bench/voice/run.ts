import { runParts, type PartResult } from '../harness/run-parts.ts';
import type { PartName } from './command.ts';
import { benchTts } from './tts.ts';

export interface VoiceBenchOptions {
  readonly parts: readonly PartName[];
  /** Turns of each contender. */
  readonly rounds: number;
  /** Path of the JSON. */
  readonly out?: string;
}

const parts: Readonly<Record<PartName, (scale: { readonly rounds: number }) => Promise<PartResult>>> = { tts: benchTts };

/** @throws Error when any part failed, or a signal ended the run */
export async function runVoiceBench({ parts: names, rounds, out }: VoiceBenchOptions): Promise<void> {
  await runParts({
    benchmark: 'voice',
    parts: names,
    run: (name) => parts[name]({ rounds }),
    stop: () => Promise.resolve(),
    scale: { rounds },
    out,
  });
}
