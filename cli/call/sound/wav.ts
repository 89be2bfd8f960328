/** WAV files, as speech servers and recorders write them. */
import { UserError } from '../../failure.ts';

/** One channel. */
export interface Sound {
  readonly sampleRate: number;
  readonly samples: Int16Array;
}

const PCM = 1;
const FLOAT = 3;
/** The format stands in an extension of the header. */
const EXTENSIBLE = 0xfffe;

interface Format {
  readonly code: number;
  readonly channels: number;
  readonly sampleRate: number;
  readonly bits: number;
}

/**
 * Reads PCM of 8, 16, 24 or 32 bits and 32-bit floating point; several channels become their mean. A length that the writer didn't know
 * (a stream) ends with the data.
 * @param name of the file, for the error
 * @throws UserError for anything else
 */
export function readWav(bytes: Uint8Array, name: string): Sound {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tag = (at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (bytes.length < 12 || tag(0) !== 'RIFF' || tag(8) !== 'WAVE') throw notWav(name, 'it does not begin as a WAV file does');
  let format: Format | undefined;
  for (let at = 12; at + 8 <= bytes.length;) {
    const length = view.getUint32(at + 4, true);
    const start = at + 8;
    if (tag(at) === 'fmt ' && start + 16 <= bytes.length) format = formatAt(view, start, length);
    if (tag(at) === 'data') {
      if (format === undefined) throw notWav(name, 'the data come before their format');
      return {
        sampleRate: format.sampleRate,
        samples: decode(bytes.subarray(start, Math.min(start + length, bytes.length)), format, name),
      };
    }
    // Chunks are padded to an even length.
    at = start + length + (length % 2);
  }
  throw notWav(name, 'it has no data');
}

function formatAt(view: DataView, at: number, length: number): Format {
  const code = view.getUint16(at, true);
  return {
    code: code === EXTENSIBLE && length >= 26 && at + 26 <= view.byteLength ? view.getUint16(at + 24, true) : code,
    channels: view.getUint16(at + 2, true),
    sampleRate: view.getUint32(at + 4, true),
    bits: view.getUint16(at + 14, true),
  };
}

function decode(data: Uint8Array, { code, channels, sampleRate, bits }: Format, name: string): Int16Array {
  const read = sampleReaders[`${code}/${bits}`];
  if (read === undefined || channels === 0 || sampleRate < 8_000 || sampleRate > 192_000)
    throw notWav(name, `format ${code} with ${bits} bits, ${channels} channels and ${sampleRate} Hz is not one that is understood`);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const size = bits / 8;
  const samples = new Int16Array(Math.floor(data.length / (size * channels)));
  for (let index = 0; index < samples.length; index += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += read(view, (index * channels + channel) * size);
    samples[index] = Math.max(-32_768, Math.min(32_767, Math.round(sum / channels)));
  }
  return samples;
}

/** By format and bits: a sample as one of 16 bits. */
const sampleReaders: Readonly<Record<string, (view: DataView, at: number) => number>> = {
  [`${PCM}/8`]: (view, at) => (view.getUint8(at) - 128) * 256,
  [`${PCM}/16`]: (view, at) => view.getInt16(at, true),
  [`${PCM}/24`]: (view, at) => view.getInt16(at + 1, true),
  [`${PCM}/32`]: (view, at) => view.getInt16(at + 2, true),
  [`${FLOAT}/32`]: (view, at) => view.getFloat32(at, true) * 32_767,
};

function notWav(name: string, why: string): UserError {
  return new UserError(`${name} can't be read as a WAV file: ${why}`, {
    cure: 'make one with `ffmpeg -i <file> -ar 48000 -ac 1 <file>.wav` or `sox <file> <file>.wav`',
  });
}
