/** How, where and for whom LiveKit's recorder records. */
// The package doesn't export the recorder, and the session makes its own; its file does, in the bundle too.
import { RecorderIO } from '../../node_modules/@livekit/agents/dist/voice/recorder_io/recorder_io.js';

/** Of the agent's voice, in Hz. LiveKit's 48 kHz cost twice the CPU for sound that isn't there; an Ogg Opus file plays at 48 kHz all the same. */
const SAMPLE_RATE = 24_000;

/** Its type hides the rate. */
interface Recorder {
  sampleRate: number;
  start: (this: Recorder, path: string) => Promise<void>;
}

export function recordAtRateOfVoice(): void {
  const prototype = RecorderIO.prototype as unknown as Recorder;
  const { start } = prototype;
  prototype.start = function startAtRate(path) {
    this.sampleRate = SAMPLE_RATE;
    return start.call(this, path);
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
  // At the end of a job the agent server uploads a report of its primary session, recording included, to LiveKit Cloud where that is the media
  // server or LIVEKIT_OBSERVABILITY_URL names one. Calls are the organisation's: there is no such session.
  Object.defineProperty(job, '_primaryAgentSession', { get: () => undefined, set() {} });
}
