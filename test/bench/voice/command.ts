import type { Command } from 'commander';

import { partsOf, wholeNumber } from '../harness/flags.ts';
import type { VoiceScale } from './part.ts';

export const partNames = ['loop', 'stt', 'eot', 'webrtc', 'barge-in', 'create', 'tts', 'recording', 'soak', 'traces'] as const;
export type VoicePartName = (typeof partNames)[number];

/** They take 25 minutes by themselves. */
const withoutTraces: readonly VoicePartName[] = partNames.filter((name) => name !== 'traces');

const full: VoiceScale = {
  calls: [1, 5, 10],
  turns: 12,
  joins: 20,
  interruptions: 20,
  creates: 500,
  rounds: 20,
  traceRounds: 10,
  soak: 200,
  lanes: 1,
  ready: 2,
  perProcess: 8,
  cores: 1,
};

/** Enough to see that everything works; too little for a figure. */
const quick: VoiceScale = {
  calls: [1, 3],
  turns: 2,
  joins: 2,
  interruptions: 2,
  creates: 30,
  rounds: 2,
  traceRounds: 2,
  soak: 4,
  lanes: 1,
  ready: 2,
  perProcess: 8,
  cores: 1,
};

interface Flags {
  readonly quick?: true;
  readonly only: readonly VoicePartName[];
  readonly turns?: number;
  readonly rounds?: number;
  readonly soak?: number;
  readonly lanes?: number;
  readonly calls?: number;
  readonly ready?: number;
  readonly perProcess?: number;
  readonly cores?: number;
  readonly joins?: number;
  readonly sources?: true;
  readonly out?: string;
}

export function registerVoiceBench(program: Command): void {
  program
    .command('voice')
    .description(
      'calls: what the platform adds to an answer at 1, 5 and 10 calls on one core, without a room (loop), with speech to text that streams (stt), the end of a turn by the detector and by silence (eot), with real WebRTC, with the time from joining to the first word (webrtc), how soon an interrupted agent is quiet (barge-in), making calls over REST (create), from a text to its first sound against the adapter of LiveKit (tts), recording a call (recording), memory over 200 calls one after the other (soak), and, where it is asked for, the processor time of calls with traces and without (traces)',
    )
    .option('--quick', 'a short run that shows that everything works; its figures mean little')
    .option('--only <parts>', `which parts to run: ${partNames.join(', ')}`, partsOf(partNames), withoutTraces)
    .option('--turns <n>', `questions that each caller asks (${full.turns})`, wholeNumber)
    .option(
      '--rounds <n>',
      `turns of each contender in tts and recording (${full.rounds}), and in traces (${full.traceRounds})`,
      wholeNumber,
    )
    .option('--soak <n>', `calls one after the other (${full.soak})`, wholeNumber)
    .option('--lanes <n>', `of these, so many at the same time (${full.lanes})`, wholeNumber)
    .option('--ready <n>', `processes that are kept ready for the next calls (${full.ready})`, wholeNumber)
    .option('--per-process <n>', `calls that share a process (${full.perProcess})`, wholeNumber)
    .option('--joins <n>', `calls one after the other whose beginning is timed (${full.joins})`, wholeNumber)
    .option('--cores <n>', `cores of what is measured (${full.cores})`, wholeNumber)
    .option('--calls <n>', `how many calls at once, in place of ${full.calls.join(', ')}`, wholeNumber)
    .option('--sources', 'run the roles from their sources and not from the bundle; figures are a little worse')
    .option('--out <path>', 'where the JSON goes (test/bench/results/voice-<time>.json)')
    .action(async (flags: Flags) => {
      const { runVoiceBench } = await import('./run.ts');
      const base = flags.quick ? quick : full;
      await runVoiceBench({
        parts: flags.only,
        scale: {
          ...base,
          turns: flags.turns ?? base.turns,
          rounds: flags.rounds ?? base.rounds,
          traceRounds: flags.rounds ?? base.traceRounds,
          soak: flags.soak ?? base.soak,
          lanes: flags.lanes ?? base.lanes,
          ready: flags.ready ?? base.ready,
          perProcess: flags.perProcess ?? base.perProcess,
          joins: flags.joins ?? base.joins,
          cores: flags.cores ?? base.cores,
          calls: flags.calls === undefined ? base.calls : [1, flags.calls],
        },
        fromSources: flags.sources === true,
        ...(flags.out === undefined ? {} : { out: flags.out }),
      });
    });
}
