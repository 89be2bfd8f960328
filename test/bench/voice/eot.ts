/** Compares the detector of a turn's end with a fixed silence: cuts in a pause, the wait after the last word, and back-channels. */
import { pino } from 'pino';

import { Helper } from '../../../local-stack/speech/helper.ts';
import { speechPython } from '../../../local-stack/speech/main.ts';
import { endOfTurnDelayMs, sureFrom } from '../../../voice/sound/turn-detector.ts';
import { countsAsInterruption, interruptionRulesOf } from '../../../voice/conversation/interruption-rules.ts';
import { localInference } from '../../../voice/sound/local-inference.ts';
import { soundSettingsOf } from '../../../voice/sound/settings.ts';
import { SharedTurnModel } from '../../../voice/sound/shared-turn-model.ts';
import { hearWindow, SILENT, type VoiceActivitySettings } from '../../../voice/sound/voice-activity.ts';
import type { PartResult } from '../harness/suite.ts';
import { percentile } from '../harness/stats.ts';
import { duration, megabytes, percent } from '../harness/table.ts';
import { benchAgent } from './agent.ts';
import { SAMPLE_RATE, spokenBackchannels, spokenTurns, withSilence, type SpokenBackchannel } from './spoken-turns.ts';

/** Silence that the detector hears before it answers: eight windows of the VAD, in milliseconds. */
const ASKED_AFTER_MS = 256;
const WINDOW = 512;
const FIXED_MS = [300, 500, 800] as const;

interface Heard {
  readonly language: string;
  readonly pauseMs: number;
  /** Probability from which on the detector is sure. */
  readonly threshold: number;
  /** Probability of an end, in the pause inside the turn. */
  readonly inside: number;
  /** Probability of an end, after the turn. */
  readonly end: number;
}

interface Contender {
  readonly name: string;
  /** Waits of each turn, in the pause inside it and after its end, in milliseconds. */
  readonly waits: readonly { readonly inside: number; readonly end: number; readonly pauseMs: number }[];
}

/** @throws Error without a Python that can have espeak-ng */
export async function benchEndOfTurn(): Promise<PartResult> {
  const python = await speechPython(process.env);
  if (python === undefined) throw new Error('the voice needs Python 3.10 or newer with venv and pip');
  const helper = new Helper({ python, onLog: () => undefined });
  const logger = pino({ level: 'silent' });
  const { agent } = benchAgent('http://localhost', { mode: 'Model' });
  const { activity, endOfTurn } = soundSettingsOf(agent);
  const delays = endOfTurn!;
  const interruptions = interruptionRulesOf(agent);
  try {
    const voice = helper.ask.bind(helper);
    const turns = await spokenTurns(voice);
    const rssBefore = process.memoryUsage.rss();
    const detector = new SharedTurnModel(logger);
    await detector.start();
    const hear = async (sound: Int16Array): Promise<number> => {
      const pcm = Buffer.from(withSilence(sound, ASKED_AFTER_MS).slice(-1.2 * SAMPLE_RATE).buffer).toString('base64');
      return (await detector.doInference('', { pcm })).probability;
    };
    await hear(turns[0]!.start);
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    const heard: Heard[] = [];
    for (const { language, start, pauseMs, rest } of turns) {
      heard.push({
        language,
        pauseMs,
        threshold: sureFrom(language),
        inside: await hear(start),
        end: await hear(Int16Array.from([...start, ...rest])),
      });
    }
    const predictions = 2 * heard.length;
    const cost = {
      residentBytes: process.memoryUsage.rss() - rssBefore,
      wallMs: (performance.now() - startedAt) / predictions,
      cpuMs: (({ user, system }) => (user + system) / 1_000 / predictions)(process.cpuUsage(cpuBefore)),
    };
    const contenders: readonly Contender[] = [
      ...FIXED_MS.map((ms) => ({ name: `silence, ${ms} ms`, waits: heard.map(({ pauseMs }) => ({ inside: ms, end: ms, pauseMs })) })),
      {
        name: 'model',
        waits: heard.map(({ inside, end, threshold, pauseMs }) => ({
          inside: endOfTurnDelayMs(inside, threshold, delays),
          end: endOfTurnDelayMs(end, threshold, delays),
          pauseMs,
        })),
      },
    ];
    const backchannels = await Promise.all(
      (await spokenBackchannels(voice)).map(async (said) => ({ text: said.text, ms: await speechMs(said, activity) })),
    );
    const share = (counts: (said: (typeof backchannels)[number]) => boolean): string =>
      percent(backchannels.filter(counts).length / backchannels.length);
    const longEnough = ({ ms }: { readonly ms: number }): boolean => ms >= interruptions.minSpeechMs;
    const interrupts = ({ text, ms }: (typeof backchannels)[number]): boolean =>
      countsAsInterruption({ text, speechMs: ms, goesOn: false }, interruptions, 'en-US');
    return {
      figures: { heard, cost, backchannels },
      tables: [
        {
          title: `End of turn: ${heard.length} turns with a pause inside`,
          columns: ['', 'cut off by 300 ms', 'cut off in all', 'wait at the end p50', 'p95', 'mean'],
          rows: contenders.map(rowOf),
          notes: [
            'espeak-ng in English, German and Spanish, four voices, three speeds; pauses of 350 to 1,600 ms.',
            `The model costs ${megabytes(cost.residentBytes)} of memory, and ${duration(cost.wallMs)} (${duration(cost.cpuMs)} of CPU) for each pause.`,
          ],
        },
        {
          title: `Back-channels: ${backchannels.length}`,
          columns: ['', 'interrupt'],
          rows: [
            ['by the length of speech alone', share(longEnough)],
            ['and by their words', share(interrupts)],
          ],
          notes: ['Those of the last end what the agent says. Words as speech to text would write them.'],
        },
      ],
    };
  } finally {
    await helper.close();
  }
}

function rowOf({ name, waits }: Contender): readonly string[] {
  const cut = (byMs: number): string =>
    percent(waits.filter(({ inside, pauseMs }) => inside < pauseMs && inside <= byMs).length / waits.length);
  const ends = waits.map(({ end }) => end);
  const mean = ends.reduce((sum, ms) => sum + ms, 0) / ends.length;
  const figures = [percentile(ends, 50), percentile(ends, 95), mean].map((ms) => duration(ms));
  return [name, cut(300), cut(Number.POSITIVE_INFINITY)].concat(figures);
}

/** Measures speech as the ears of a call do. */
async function speechMs({ sound }: SpokenBackchannel, settings: VoiceActivitySettings): Promise<number> {
  const model = localInference().createVad();
  const samples = withSilence(Int16Array.from([...new Int16Array(SAMPLE_RATE / 4), ...sound]), 1_000);
  let voice = SILENT;
  for (let at = 0; at + WINDOW <= samples.length; at += WINDOW) {
    const { now, changes } = hearWindow(voice, await model.predict(samples.slice(at, at + WINDOW)), settings);
    voice = now;
    for (const change of changes) if (change.type === 'pauses') return change.spokenMs;
  }
  return 0;
}
