/**
 * An answer that goes on after a pause goes on where it was heard last. LiveKit drops what it has handed to the media library and was not played yet,
 * some 0.3 s, in each back-channel (https://github.com/livekit/agents-js/pull/1884), and stops at the next frame only.
 */
import { AudioFrame } from '@livekit/rtc-node';

import { joinFrames, msOf } from '../join-frames.ts';

/** The parts of a `ParticipantAudioOutput` in use; its type hides most of them. Durations are in seconds, offsets in milliseconds. */
export interface PausableOutput {
  readonly audioSource: {
    /** In milliseconds. */
    readonly queuedDuration: number;
    captureFrame(frame: AudioFrame): Promise<void>;
    clearQueue(): void;
  };
  /** Absent, or done while frames come. */
  readonly flushTask?: { readonly done: boolean };
  sourcePushedDuration: number;
  sourceDiscardedDuration: number;
  runOffset: number;
  /** When what was handed over is played, in milliseconds since the epoch. */
  dryAt: number | undefined;
  reportRun(run: { readonly offset: number; readonly endedAt: number; readonly resumesAt: number }): void;
  pause: (this: PausableOutput) => void;
  resume: (this: PausableOutput) => void;
  clearBuffer: (this: PausableOutput) => void;
  waitForPlayoutTask: (this: PausableOutput) => Promise<void>;
}

/** What was not played at a pause, and what settles whether it will be. */
interface Unplayed {
  readonly frame: AudioFrame;
  readonly settled: PromiseWithResolvers<void>;
}

export function replayAfterPauses(output: PausableOutput): void {
  const { audioSource: source } = output;
  const capture = source.captureFrame.bind(source);
  const { pause, resume, clearBuffer, waitForPlayoutTask } = output;
  /** What the media library had not played when the last frame came. */
  let queued: AudioFrame | undefined;
  let unplayed: Unplayed | undefined;
  /** The library takes one frame at a time. */
  let replayed: Promise<void> = Promise.resolve();

  source.captureFrame = async (frame) => {
    await replayed;
    const captured = capture(frame);
    queued = endOf(joinFrames(queued === undefined ? frame : [queued, frame]), source.queuedDuration);
    await captured;
  };

  output.pause = () => {
    pause.call(output);
    const queuedMs = source.queuedDuration;
    // The end of an answer is played: to its waiter an empty queue is that end.
    if (unplayed !== undefined || queued === undefined || queuedMs === 0 || output.flushTask?.done === false) return;
    const frame = endOf(queued, queuedMs);
    unplayed = { frame, settled: Promise.withResolvers() };
    const pushedMs = output.sourcePushedDuration * 1_000;
    output.reportRun({ offset: pushedMs - msOf(frame), endedAt: Date.now(), resumesAt: pushedMs });
    output.sourceDiscardedDuration += msOf(frame) / 1_000;
    source.clearQueue();
  };

  output.resume = () => {
    if (unplayed !== undefined) {
      const { frame, settled } = unplayed;
      unplayed = undefined;
      output.sourceDiscardedDuration -= msOf(frame) / 1_000;
      output.runOffset -= msOf(frame);
      queued = frame;
      // One that fails fails the next, too.
      replayed = capture(frame).catch(() => undefined);
      output.dryAt = Date.now() + source.queuedDuration;
      settled.resolve();
    }
    resume.call(output);
  };

  output.clearBuffer = () => {
    unplayed?.settled.resolve();
    unplayed = undefined;
    clearBuffer.call(output);
  };

  output.waitForPlayoutTask = async () => {
    await unplayed?.settled.promise;
    await waitForPlayoutTask.call(output);
  };
}

function endOf({ data, sampleRate, channels, samplesPerChannel }: AudioFrame, ms: number): AudioFrame {
  const length = Math.min(samplesPerChannel, Math.round((ms * sampleRate) / 1_000));
  return new AudioFrame(data.slice((samplesPerChannel - length) * channels), sampleRate, channels, length);
}
