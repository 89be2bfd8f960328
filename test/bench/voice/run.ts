import { progress } from '../harness/progress.ts';
import { runParts } from '../harness/run-parts.ts';
import { bargeIn } from './barge-in.ts';
import type { VoicePartName } from './command.ts';
import { create } from './create.ts';
import { benchEndOfTurn } from './eot.ts';
import { startHost, type VoiceHost } from './host.ts';
import { loop } from './loop.ts';
import { capacityOf, type VoicePart, type VoiceScale } from './part.ts';
import { benchRecording } from './recording.ts';
import { soak } from './soak.ts';
import { stt } from './stt.ts';
import { traces } from './traces.ts';
import { benchTts } from './tts.ts';
import { webrtc } from './webrtc.ts';

export interface VoiceBenchOptions {
  readonly parts: readonly VoicePartName[];
  readonly scale: VoiceScale;
  readonly fromSources: boolean;
  /** Path of the JSON. */
  readonly out?: string;
}

const parts: Readonly<Record<Exclude<VoicePartName, 'tts' | 'eot' | 'recording'>, VoicePart>> = {
  loop,
  stt,
  webrtc,
  'barge-in': bargeIn,
  create,
  soak,
  traces,
};

/** @throws Error when any part failed, or a signal ended the run */
export async function runVoiceBench({ parts: names, scale, fromSources, out }: VoiceBenchOptions): Promise<void> {
  let starting: Promise<VoiceHost> | undefined;
  const host = (): Promise<VoiceHost> =>
    (starting ??= startHost({ env: process.env, progress, fromSources, cores: scale.cores, capacity: capacityOf(scale) }));
  await runParts({
    benchmark: 'voice',
    parts: names,
    run: async (name) => {
      // These need no servers.
      if (name === 'tts') return benchTts(scale);
      if (name === 'eot') return benchEndOfTurn();
      if (name === 'recording') return benchRecording(scale);
      return parts[name]({ host: await host(), scale, progress });
    },
    stop: async () => starting?.then((started) => started.stop()),
    scale,
    out,
  });
}
