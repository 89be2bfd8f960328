/**
 * At what rate LiveKit's recorder works: at that of the agent's voice, which is the better of the two.
 *
 * Its default, 48 kHz, costs twice the processor for sound that isn't there.
 */
// No export of the package's leads there, and the session makes its recorder itself; its file does, in the bundle too.
import { RecorderIO } from '../../node_modules/@livekit/agents/dist/voice/recorder_io/recorder_io.js';

/** In Hz. An Ogg Opus file plays at 48 kHz all the same. */
const sampleRate = 24_000;

/** Of `@livekit/agents` 1.9.0, `voice/recorder_io`; its type keeps the rate to itself. */
interface Recorder {
  sampleRate: number;
  start: (this: Recorder, path: string) => Promise<void>;
}

/** For every session of this process, from now on. */
export function recordAtRateOfVoice(): void {
  const prototype = RecorderIO.prototype as unknown as Recorder;
  const { start } = prototype;
  prototype.start = function startAtRate(path) {
    this.sampleRate = sampleRate;
    return start.call(this, path);
  };
}
