/** Encodes stereo sound into an Ogg Opus file, which is playable at any time up to the last page. */
import { closeSync, openSync, writeSync } from 'node:fs';

import { Application, createEncoder } from 'libopus-wasm';

import { PageWriter } from '../ogg/page-writer.ts';
import { RECORDING_RATE } from './rate.ts';

const CHANNELS = 2;
const FRAME = RECORDING_RATE / 50;
const BYTES = 2 * CHANNELS;
const FRAME_BYTES = FRAME * BYTES;
/** Granules in a sample: they count at 48 kHz. */
const GRANULES = 48_000 / RECORDING_RATE;
/** Effort of the encoder that leaves nothing out of speech, and is not too much to encode (`npm run bench -- voice --only recording`). */
export const COMPLEXITY = 0;
const BITRATE = 48_000;
const SILENCE = Buffer.alloc(FRAME_BYTES);

type Encoder = Awaited<ReturnType<typeof createEncoder>>;

export class OpusFile {
  readonly #encoder: Encoder;
  readonly #file: number;
  readonly #pages = new PageWriter(1);
  readonly #preSkip: number;
  #rest: Uint8Array = new Uint8Array();
  /** Packet of the last frame. */
  #packet: Uint8Array = new Uint8Array();
  /** True if the packet is the one of silence that follows silence, which is always the same. */
  #settled = false;
  #samples = 0;

  /**
   * Opens a file. @param complexity of the encoder, 0 to 10
   * @throws Error where the file can't be written
   */
  static async open(path: string, complexity: number = COMPLEXITY): Promise<OpusFile> {
    const encoder = await createEncoder({
      sampleRate: RECORDING_RATE,
      channels: CHANNELS,
      frameSize: FRAME,
      application: Application.Audio,
      bitrate: BITRATE,
      complexity,
    });
    return new OpusFile(encoder, openSync(path, 'w', 0o600));
  }

  private constructor(encoder: Encoder, file: number) {
    this.#encoder = encoder;
    this.#file = file;
    this.#preSkip = encoder.getLookahead() * GRANULES;
    this.#append([this.#pages.header([opusHead(this.#preSkip)], true), this.#pages.header([opusTags()], false)]);
  }

  /** Writes sound. @param pcm 16 bit samples, left and right in turn */
  write(pcm: Uint8Array): void {
    const bytes = Buffer.concat([this.#rest, pcm]);
    const whole = bytes.length - (bytes.length % FRAME_BYTES);
    const pages: Uint8Array[] = [];
    for (let at = 0; at < whole; at += FRAME_BYTES)
      pages.push(...this.#pages.add(this.#encode(bytes.subarray(at, at + FRAME_BYTES)), FRAME * GRANULES));
    this.#rest = bytes.subarray(whole);
    this.#samples += pcm.length / BYTES;
    this.#append(pages);
  }

  end(): void {
    const samples = this.#samples;
    // The last frame is filled up; what the encoder still holds comes out with a frame of silence behind it.
    const missing = (FRAME_BYTES - this.#rest.length) % FRAME_BYTES;
    this.write(new Uint8Array(missing + FRAME_BYTES));
    this.#append([this.#pages.end(this.#preSkip + samples * GRANULES)]);
    this.close();
  }

  close(): void {
    this.#encoder.free();
    closeSync(this.#file);
  }

  #encode(frame: Buffer): Uint8Array {
    const silent = SILENCE.equals(frame);
    if (silent && this.#settled) return this.#packet;
    const packet = this.#encoder.encode(frame);
    this.#settled = silent && Buffer.compare(packet, this.#packet) === 0;
    this.#packet = packet;
    return packet;
  }

  #append(pages: readonly Uint8Array[]): void {
    if (pages.length > 0) writeSync(this.#file, Buffer.concat(pages));
  }
}

/** Builds the identification header (RFC 7845, 5.1). */
function opusHead(preSkip: number): Uint8Array {
  const head = Buffer.alloc(19);
  head.write('OpusHead');
  head[8] = 1;
  head[9] = CHANNELS;
  head.writeUInt16LE(preSkip, 10);
  head.writeUInt32LE(RECORDING_RATE, 12);
  return head;
}

/** Builds the comment header (RFC 7845, 5.2). */
function opusTags(): Uint8Array {
  const vendor = 'parley';
  const tags = Buffer.alloc(16 + vendor.length);
  tags.write('OpusTags');
  tags.writeUInt32LE(vendor.length, 8);
  tags.write(vendor, 12);
  return tags;
}
