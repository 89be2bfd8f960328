/** How, where and for whom LiveKit's recorder records. */
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

import type { AudioFrame } from '@livekit/rtc-node';

// The package doesn't export the recorder, and the session makes its own; its file does, in the bundle too.
import { RecorderIO } from '../../node_modules/@livekit/agents/dist/voice/recorder_io/recorder_io.js';
import { joinFrames, msOf } from '../join-frames.ts';
import type { SoundEncoder } from '../recording/encoder/index.ts';

/** Sound of a channel, or the moment up to which both channels are complete, in milliseconds since the epoch. */
export type RecorderItem =
  | { readonly kind: 'captured'; readonly channel: number; readonly startedAt: number; readonly frame: AudioFrame }
  | { readonly kind: 'flush'; readonly until: number };

/** Its type hides these. */
interface Recorder {
  readonly chan: { write: (item: RecorderItem) => Promise<void> };
  sampleRate: number;
  _outputPath: string;
  pcmStream?: Writable;
  ffmpegPromise?: Promise<void>;
  start: (this: Recorder, path: string) => Promise<void>;
  startFFmpeg: (this: Recorder) => void;
}

export function recordWith(encoder: SoundEncoder): void {
  const prototype = RecorderIO.prototype as unknown as Recorder;
  const { start } = prototype;
  prototype.start = function startAtRate(path) {
    this.sampleRate = encoder.rate;
    const { chan } = this;
    chan.write = inLongerFrames(chan.write.bind(chan));
    return start.call(this, path);
  };
  prototype.startFFmpeg = function openFile() {
    if (this.pcmStream !== undefined) return;
    this.pcmStream = encoder.open(this._outputPath);
    this.ffmpegPromise = finished(this.pcmStream);
    // The recorder reports it when it closes.
    this.ffmpegPromise.catch(() => undefined);
  };
}

/** The recorder resamples each frame by itself, and most of what that takes is the call into the media library. */
const FRAME_MS = 320;
/** As in the recorder: sound that begins so much later or sooner than the sound before ends, in milliseconds, is not its continuation. */
const GAP_MS = 100;

interface Run {
  readonly startedAt: number;
  readonly frames: AudioFrame[];
}

/** @returns writes the frames of a channel that follow each other as one, {@link FRAME_MS} long or as long as they are before a gap or a flush */
export function inLongerFrames(write: (item: RecorderItem) => Promise<void>): (item: RecorderItem) => Promise<void> {
  const runs = new Map<number, Run>();
  const release = async (channel: number): Promise<void> => {
    const run = runs.get(channel);
    runs.delete(channel);
    if (run !== undefined) await write({ kind: 'captured', channel, startedAt: run.startedAt, frame: joinFrames(run.frames) });
  };
  return async (item) => {
    const writing: Promise<void>[] = [];
    if (item.kind === 'flush') writing.push(...[...runs.keys()].map(release), write(item));
    else {
      const { channel, startedAt, frame } = item;
      let run = runs.get(channel);
      if (run === undefined || !continues(run, item)) {
        writing.push(release(channel));
        runs.set(channel, (run = { startedAt, frames: [] }));
      }
      run.frames.push(frame);
      if (lengthOf(run) >= FRAME_MS) writing.push(release(channel));
    }
    await Promise.all(writing);
  };
}

/** In milliseconds. */
function lengthOf({ frames }: Run): number {
  return frames.reduce((sum, frame) => sum + msOf(frame), 0);
}

function continues(run: Run, { startedAt, frame }: { readonly startedAt: number; readonly frame: AudioFrame }): boolean {
  const [first] = run.frames;
  return (
    Math.abs(startedAt - run.startedAt - lengthOf(run)) <= GAP_MS &&
    frame.sampleRate === first?.sampleRate &&
    frame.channels === first.channels
  );
}

/** The part of a `JobContext` in use: the recorder writes `audio.ogg` into its session directory. */
interface RecordedJob {
  readonly sessionDirectory: string;
}

/**
 * Before `session.start({ record: { audio: true, … } })`.
 * @param recording.started called when the recorder starts: it asks where to write at the moment from which it counts
 */
export function recordInto(job: RecordedJob, { file, started }: { readonly file: string; readonly started: () => void }): void {
  Object.defineProperty(job, 'sessionDirectory', {
    get: () => {
      started();
      return dirname(file);
    },
  });
}
