/** How, where and for whom LiveKit's recorder records. */
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

// The package doesn't export the recorder, and the session makes its own; its file does, in the bundle too.
import { RecorderIO } from '../../node_modules/@livekit/agents/dist/voice/recorder_io/recorder_io.js';

/** Takes the place of the ffmpeg that the recorder would start for each call. */
export interface SoundEncoder {
  /** Of the sound that it takes, in Hz. */
  readonly rate: number;
  /** @returns takes 16 bit samples, left and right in turn; finished when the file is complete */
  open(file: string): Writable;
}

/** Its type hides these. */
interface Recorder {
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

/** The part of a `JobContext` in use: the recorder writes into its session directory. */
export interface RecordedJob {
  readonly sessionDirectory: string;
}

/** @param options.onStart called when the recorder starts: it asks where to write at the moment from which it counts */
export function recordInto(job: RecordedJob, { folder, onStart }: { readonly folder: string; readonly onStart: () => void }): void {
  Object.defineProperty(job, 'sessionDirectory', {
    get: () => {
      onStart();
      return folder;
    },
  });
}
