/**
 * Plays the agent's sound, speech after speech: paced, so that what isn't heard yet can still be paused or taken back, and known to the
 * sample how much of each was played.
 */
import { AudioFrame, AudioResampler } from '@livekit/rtc-node';

import type { Clock, Timer } from '../../platform/clock.ts';
import { joinSamples } from './join-samples.ts';

/** Sample rate in Hz. */
export const PLAYOUT_SAMPLE_RATE = 24_000;

/** Plays sound, and can't take back or pause what it has. LiveKit's `AudioSource` is one. */
export interface SoundSink {
  /** Length of the sound that it has not played yet, in milliseconds. */
  readonly queuedDuration: number;
  captureFrame(frame: AudioFrame): Promise<void>;
  clearQueue(): void;
}

export interface PlayoutOptions {
  readonly sink: SoundSink;
  readonly clock: Clock;
  /** Called while a speech is played. @param ms length of the speech's sound that was played so far */
  readonly onPlayed: (speech: number, ms: number) => void;
  /** Called when all of a speech was played, or it was cancelled. */
  readonly onEnd: (speech: number) => void;
  /** Called with all sound that was played. @param at when its first sample was, in milliseconds since the epoch */
  readonly onSound?: ((samples: Int16Array, at: number) => void) | undefined;
}

/** Most sound that the sink holds, in milliseconds: a process that stands still for less is not heard. */
const AHEAD_MS = 300;
/** Length of sound that is handed over at once, in milliseconds: each call into the media library costs more than it carries. */
const PIECE_MS = 100;
/** Pause between two looks at the sink, in milliseconds. */
const LOOK_MS = 40;

const samplesIn = (ms: number): number => Math.round((ms * PLAYOUT_SAMPLE_RATE) / 1_000);
const msIn = (samples: number): number => (samples * 1_000) / PLAYOUT_SAMPLE_RATE;

interface Line {
  readonly speech: number;
  /** Sound that is not handed over yet. */
  pieces: Int16Array[];
  resampler: AudioResampler | undefined;
  complete: boolean;
  /** Number of samples that were played. */
  played: number;
}

interface Handed {
  readonly line: Line;
  readonly samples: Int16Array;
}

export class Playout {
  readonly #options: PlayoutOptions;
  /** Speeches in the order in which they are heard. */
  #lines: Line[] = [];
  /** Pieces that the sink holds. */
  #handed: Handed[] = [];
  #timer: Timer | undefined;
  #open = false;
  #paused = false;
  #closed = false;

  constructor(options: PlayoutOptions) {
    this.#options = options;
  }

  /** Starts to play, when somebody listens. */
  open(): void {
    this.#open = true;
    this.#advance();
  }

  /** Begins a speech, whose sound comes after that of the speeches before it. */
  begin(speech: number): void {
    if (!this.#closed) this.#lines.push({ speech, pieces: [], resampler: undefined, complete: false, played: 0 });
  }

  add(speech: number, frame: AudioFrame): void {
    const line = this.#lineOf(speech);
    if (line === undefined || line.complete) return;
    line.pieces.push(...this.#converted(line, frame).filter(({ length }) => length > 0));
    this.#advance();
  }

  /** Completes a speech: no more sound comes. */
  complete(speech: number): void {
    const line = this.#lineOf(speech);
    if (line === undefined || line.complete) return;
    line.complete = true;
    line.pieces.push(...(line.resampler?.flush() ?? []).map(({ data }) => data).filter(({ length }) => length > 0));
    this.#advance();
  }

  cancel(speech: number): void {
    const line = this.#lineOf(speech);
    if (line === undefined) return;
    this.#account();
    if (this.#handed.some((handed) => handed.line === line)) this.#takeBack();
    if (this.#lineOf(speech) === undefined) return;
    this.#lines = this.#lines.filter((each) => each !== line);
    line.resampler?.close();
    this.#options.onEnd(speech);
    this.#advance();
  }

  pause(): void {
    if (this.#paused) return;
    this.#account();
    this.#paused = true;
    this.#takeBack();
  }

  resume(): void {
    this.#paused = false;
    this.#advance();
  }

  close(): void {
    for (const { speech } of this.#lines.toReversed()) this.cancel(speech);
    this.#closed = true;
    this.#timer?.cancel();
  }

  #lineOf(speech: number): Line | undefined {
    return this.#lines.find((line) => line.speech === speech);
  }

  #converted(line: Line, { data, sampleRate, channels, samplesPerChannel }: AudioFrame): readonly Int16Array[] {
    if (sampleRate === PLAYOUT_SAMPLE_RATE) return [data];
    // The frame has a copy: of a view the media library would read all that it is part of.
    line.resampler ??= new AudioResampler(sampleRate, PLAYOUT_SAMPLE_RATE, channels);
    return line.resampler.push(new AudioFrame(data.slice(), sampleRate, channels, samplesPerChannel)).map((frame) => frame.data);
  }

  #advance(): void {
    if (this.#closed) return;
    this.#account();
    if (this.#open && !this.#paused) this.#hand();
    this.#timer?.cancel();
    this.#timer = this.#handed.length > 0 ? this.#options.clock.after(LOOK_MS, () => this.#advance()) : undefined;
  }

  /** Counts as played what the sink no longer holds. */
  #account(): void {
    const { sink, clock, onPlayed, onSound } = this.#options;
    const queued = Math.min(samplesIn(sink.queuedDuration), countSamples(this.#handed));
    let played = countSamples(this.#handed) - queued;
    let at = clock.now() - msIn(played);
    const changed = new Set<Line>();
    while (played > 0) {
      const [{ line, samples }, ...rest] = this.#handed as [Handed, ...Handed[]];
      const part = samples.subarray(0, played);
      this.#handed = part.length < samples.length ? [{ line, samples: samples.subarray(part.length) }, ...rest] : rest;
      line.played += part.length;
      played -= part.length;
      onSound?.(part, at);
      at += msIn(part.length);
      changed.add(line);
    }
    for (const line of changed) onPlayed(line.speech, msIn(line.played));
    for (const line of this.#lines.filter((each) => this.#isOver(each))) {
      this.#lines = this.#lines.filter((each) => each !== line);
      line.resampler?.close();
      this.#options.onEnd(line.speech);
    }
  }

  #isOver(line: Line): boolean {
    if (!line.complete || line.pieces.length > 0 || this.#handed.some((handed) => handed.line === line)) return false;
    // A speech without a sound has its place, too.
    return this.#lines.slice(0, this.#lines.indexOf(line)).every((before) => this.#isOver(before));
  }

  #hand(): void {
    const { sink } = this.#options;
    let queued = sink.queuedDuration;
    for (const line of this.#lines) {
      while (line.pieces.length > 0 && queued < AHEAD_MS) {
        const samples = this.#takePiece(line);
        this.#handed.push({ line, samples });
        queued += msIn(samples.length);
        // The capture fails where the track is closed, and the call over.
        sink.captureFrame(new AudioFrame(samples, PLAYOUT_SAMPLE_RATE, 1, samples.length)).catch(() => undefined);
      }
      if (line.pieces.length > 0 || !line.complete) return;
    }
  }

  #takePiece(line: Line): Int16Array {
    const longest = samplesIn(PIECE_MS);
    const taken: Int16Array[] = [];
    let length = 0;
    while (length < longest && line.pieces.length > 0) {
      const piece = line.pieces.shift()!;
      const part = piece.subarray(0, longest - length);
      if (part.length < piece.length) line.pieces.unshift(piece.subarray(part.length));
      taken.push(part);
      length += part.length;
    }
    return joinSamples(taken);
  }

  /** Takes back what the sink holds, to hand it over again. */
  #takeBack(): void {
    for (const { line, samples } of this.#handed.toReversed()) line.pieces.unshift(samples);
    if (this.#handed.length > 0) this.#options.sink.clearQueue();
    this.#handed = [];
  }
}

const countSamples = (handed: readonly Handed[]): number => handed.reduce((sum, { samples }) => sum + samples.length, 0);
