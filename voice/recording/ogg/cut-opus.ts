/**
 * Cuts a recording to the time of its call without decoding it: whole packets are dropped or inserted, and parts of a packet by Ogg Opus' own fields
 * (RFC 7845: pre-skip, and the granule position of the last page).
 */
import { PageWriter } from './page-writer.ts';
import { readPackets } from './page.ts';

const SAMPLES_PER_MS = 48;
/** Samples that a decoder needs to converge when it starts in the middle (RFC 7845, 4.6). */
const PRE_ROLL = 80 * SAMPLES_PER_MS;

/** A packet of 20 ms of stereo silence. */
const SILENCE = Uint8Array.of(0xfc, 0xff, 0xfe);
const SILENCE_SAMPLES = 20 * SAMPLES_PER_MS;

/** The call's place in the file: milliseconds from the file's beginning, negative for a call that began before it. */
export interface CallWindow {
  readonly fromMs: number;
  /** End of the call in the file; the file's end where absent or later. */
  readonly toMs?: number | undefined;
}

export class EmptyRecordingError extends Error {
  override readonly name = 'EmptyRecordingError';
}

/**
 * Cuts a file. @param options.onLength gets the length in milliseconds, before the last page
 * @throws EmptyRecordingError when the file has no sound within the window
 */
export async function* cutOpus(
  source: AsyncIterable<Uint8Array>,
  { fromMs, toMs, onLength }: CallWindow & { readonly onLength?: (ms: number) => void },
): AsyncGenerator<Uint8Array> {
  const packets = readPackets(source);
  const head = (await packets.next()).value;
  const tags = (await packets.next()).value;
  if (head === undefined || tags === undefined || !isOpusHead(head.bytes)) throw new EmptyRecordingError('the file is no recording');
  const ownPreSkip = Buffer.from(head.bytes).readUInt16LE(10);
  // Positions are in decoded samples, of which players drop the first `ownPreSkip`.
  const from = Math.round(fromMs * SAMPLES_PER_MS) + ownPreSkip;
  const length = toMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, Math.round((toMs - fromMs) * SAMPLES_PER_MS));

  let preSkip: number | undefined;
  let written = 0;
  const pages = new PageWriter(head.serial);
  const begin = (skip: number): Uint8Array[] => {
    preSkip = skip;
    const opened = Buffer.from(head.bytes);
    opened.writeUInt16LE(skip, 10);
    return [pages.header([opened], true), pages.header([tags.bytes], false)];
  };
  let position = 0;
  for await (const { bytes } of packets) {
    const samples = opusSamples(bytes);
    const start = position;
    position += samples;
    // A packet that ends before the pre-roll of the beginning is not needed.
    if (position <= from - PRE_ROLL) continue;
    if (preSkip === undefined) {
      const missing = from < ownPreSkip ? Math.ceil((ownPreSkip - from) / SILENCE_SAMPLES) : 0;
      yield* begin(missing * SILENCE_SAMPLES + from - start);
      for (let count = 0; count < missing && written < (preSkip ?? 0) + length; count += 1) {
        written += SILENCE_SAMPLES;
        yield* pages.add(SILENCE, SILENCE_SAMPLES);
      }
    }
    if (written >= (preSkip ?? 0) + length) break;
    written += samples;
    yield* pages.add(bytes, samples);
  }
  const end = Math.min(written, (preSkip ?? 0) + length);
  if (preSkip === undefined || end <= preSkip) throw new EmptyRecordingError('the recording has no sound in the time of the call');
  onLength?.((end - preSkip) / SAMPLES_PER_MS);
  yield pages.end(end);
}

function isOpusHead(packet: Uint8Array): boolean {
  return packet.length >= 19 && Buffer.from(packet.subarray(0, 8)).toString('latin1') === 'OpusHead';
}

/** Returns how many samples a packet decodes to at 48 kHz, by its first bytes (RFC 6716, 3.1). */
export function opusSamples(packet: Uint8Array): number {
  const [toc = 0, count = 0] = packet;
  if (packet.length === 0) return 0;
  const config = toc >> 3;
  const frame = config < 12 ? [10, 20, 40, 60][config & 3] : config < 16 ? [10, 20][config & 1] : [2.5, 5, 10, 20][config & 3];
  const frames = (toc & 3) === 0 ? 1 : (toc & 3) < 3 ? 2 : count & 0x3f;
  return (frame ?? 20) * frames * SAMPLES_PER_MS;
}
