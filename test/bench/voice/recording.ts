/** What recording a call costs: to put its sound in place, and a conversation of two voices as stereo Opus by how hard the encoder tries. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Helper } from '../../../local-stack/speech/helper.ts';
import { speechPython } from '../../../local-stack/speech/main.ts';
import { resample } from '../../../local-stack/speech/sound.ts';
import { COMPLEXITY, OpusFile } from '../../../voice/recording/encoder/opus-file.ts';
import { RECORDING_RATE } from '../../../voice/recording/encoder/rate.ts';
import { interleave } from '../harness/rounds.ts';
import type { PartResult } from '../harness/run-parts.ts';
import { median } from '../harness/stats.ts';
import { placingCost } from './sound-placing.ts';
import { SAMPLE_RATE, spokenTurns, withSilence } from './spoken-turns.ts';

const COMPLEXITIES = [1, COMPLEXITY, 5, 10] as const;
/** As a job writes it. */
const PIECE_BYTES = (RECORDING_RATE / 10) * 4;
const PAUSE_MS = 600;

interface Encoded {
  readonly cpuMs: number;
  readonly bytes: number;
}

/** @throws Error without a Python that can have espeak-ng */
export async function benchRecording({ rounds }: { readonly rounds: number }): Promise<PartResult> {
  const python = await speechPython(process.env);
  if (python === undefined) throw new Error('the voice needs Python 3.10 or newer with venv and pip');
  const helper = new Helper({ python, onLog: () => undefined });
  const folder = await mkdtemp(join(tmpdir(), 'parley-recording-'));
  try {
    const pcm = stereo(
      (await spokenTurns(helper.ask.bind(helper))).slice(0, 40).map(({ start, rest }) => Int16Array.from([...start, ...rest])),
    );
    const seconds = pcm.length / 4 / RECORDING_RATE;
    const contenders = Object.fromEntries(
      COMPLEXITIES.map((complexity) => [`complexity ${complexity}`, () => encode(join(folder, 'call.ogg'), pcm, complexity)]),
    );
    const results = await interleave({ rounds: Math.min(rounds, 5), contenders });
    const rows = Object.entries(results).map(([name, runs]) => ({
      name,
      cpu: median(runs.map(({ cpuMs }) => cpuMs)) / 1_000 / seconds,
      kbits: (runs[0]!.bytes * 8) / 1_000 / seconds,
    }));
    const placing = await placingCost(Math.min(rounds, 5));
    return {
      figures: { seconds, rows, placing },
      tables: [
        {
          title: 'Recording: two voices as stereo Opus',
          columns: ['', 'of a core for each call', 'kbit/s'],
          rows: rows.map(({ name, cpu, kbits }) => [name, `${(cpu * 100).toFixed(2)} %`, kbits.toFixed(1)]),
          notes: [
            `${seconds.toFixed(0)} s of speech in turns, at ${RECORDING_RATE} Hz; calls are recorded with complexity ${COMPLEXITY}`,
            `To put both sides in place before that takes ${(placing * 100).toFixed(3)} % of a core for each call.`,
          ],
        },
      ],
    };
  } finally {
    await helper.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function encode(path: string, pcm: Uint8Array, complexity: number): Promise<Encoded> {
  const file = await OpusFile.open(path, complexity);
  const before = process.cpuUsage();
  for (let at = 0; at < pcm.length; at += PIECE_BYTES) file.write(pcm.subarray(at, at + PIECE_BYTES));
  file.end();
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1_000, bytes: (await stat(path)).size };
}

/** The voices speak in turn, one on each side. */
function stereo(turns: readonly Int16Array[]): Uint8Array {
  const mono = turns.map((turn) => resample(withSilence(turn, PAUSE_MS), SAMPLE_RATE, RECORDING_RATE));
  const samples = new Int16Array(2 * mono.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const [turn, sound] of mono.entries())
    for (const sample of sound) {
      samples[at + (turn % 2)] = sample;
      at += 2;
    }
  return new Uint8Array(samples.buffer);
}
