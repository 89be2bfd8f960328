/** Turns streamed bytes into audio frames, as soon as there are 20 ms. */
import { AudioFrame } from '@livekit/rtc-node';

/** Shortest and longest frame, in milliseconds. */
const SHORTEST_MS = 20;
/**
 * Longest frame: each takes a turn of the event loop, which on a busy machine is longer than a short one, so that speech would have holes.
 */
const LONGEST_MS = 100;

/** Reads 16 bits, one channel; raw, or a WAV file, which some servers send whatever they are asked for. */
export class PcmReader {
  #rate: number;
  #channels = 1;
  #head: Buffer | undefined = Buffer.alloc(0);
  #rest: Buffer = Buffer.alloc(0);

  constructor(sampleRate: number) {
    this.#rate = sampleRate;
  }

  /** Takes bytes. @throws RangeError for a WAV file of another kind */
  push(chunk: Uint8Array): readonly AudioFrame[] {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#head !== undefined) {
      const head = Buffer.concat([this.#head, bytes]);
      const start = this.#dataStart(head);
      if (start === undefined) {
        this.#head = head;
        return [];
      }
      this.#head = undefined;
      bytes = head.subarray(start);
    }
    return this.#frames(this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]));
  }

  /** Returns the rest, which is less than a frame. */
  end(): readonly AudioFrame[] {
    // Audio that is shorter than a WAV header is raw.
    if (this.#head !== undefined && this.#head.length > 0) this.#rest = this.#head;
    const whole = this.#rest.length - (this.#rest.length % (2 * this.#channels));
    const frame = whole === 0 ? [] : [this.#frame(this.#rest.subarray(0, whole))];
    this.#rest = Buffer.alloc(0);
    return frame;
  }

  #frames(bytes: Buffer): readonly AudioFrame[] {
    const longest = this.#bytesOf(LONGEST_MS);
    const whole = bytes.length - (bytes.length % this.#bytesOf(SHORTEST_MS));
    const frames: AudioFrame[] = [];
    for (let at = 0; at < whole; at += longest) frames.push(this.#frame(bytes.subarray(at, Math.min(whole, at + longest))));
    this.#rest = Buffer.from(bytes.subarray(whole));
    return frames;
  }

  #bytesOf(ms: number): number {
    return Math.round((this.#rate * ms) / 1000) * 2 * this.#channels;
  }

  #frame(bytes: Buffer): AudioFrame {
    const samples = new Int16Array(bytes.length / 2 / this.#channels);
    for (let index = 0; index < samples.length; index += 1) samples[index] = bytes.readInt16LE(index * 2 * this.#channels);
    return new AudioFrame(samples, this.#rate, 1, samples.length);
  }

  /** Returns where the audio begins; undefined while that is not known yet. */
  #dataStart(head: Buffer): number | undefined {
    const riff = Buffer.from('RIFF');
    if (head.length < 4) return riff.subarray(0, head.length).equals(head) ? undefined : 0;
    if (!head.subarray(0, 4).equals(riff)) return 0;
    for (let at = 12; at + 8 <= head.length;) {
      const id = head.toString('latin1', at, at + 4);
      if (id === 'data') return at + 8;
      const length = head.readUInt32LE(at + 4);
      if (id === 'fmt ' && at + 24 <= head.length) {
        const [format, channels, bits] = [head.readUInt16LE(at + 8), head.readUInt16LE(at + 10), head.readUInt16LE(at + 22)];
        if ((format !== 1 && format !== 0xfffe) || bits !== 16 || channels < 1 || channels > 2)
          throw new RangeError('a WAV file that is not of 16 bits');
        this.#channels = channels;
        this.#rate = head.readUInt32LE(at + 12);
      }
      at += 8 + length + (length % 2);
    }
    if (head.length > 65_536) throw new RangeError('a WAV file without sound');
    return undefined;
  }
}
