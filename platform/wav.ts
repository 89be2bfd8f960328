/** Writes WAV files with 16 bits, and reads those of speech servers and recorders. */

/** Sound of one channel. */
export interface Sound {
  readonly samples: Int16Array;
  /** Samples per second, in Hz. */
  readonly sampleRate: number;
}

/** @param options.dataBytes length that the head states: for a file that is streamed, as long as it may get */
export function wavHeader(options: { readonly sampleRate: number; readonly channels?: number; readonly dataBytes: number }): Buffer {
  const { sampleRate, channels = 1, dataBytes } = options;
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(Math.min(0xffffffff, 36 + dataBytes), 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * channels * 2, 28);
  header.writeUInt16LE(channels * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

/** Writes a WAV file; the samples of several channels are interleaved. */
export function wavOf({ samples, sampleRate, channels = 1 }: Sound & { readonly channels?: number }): Buffer {
  const data = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  return Buffer.concat([wavHeader({ sampleRate, channels, dataBytes: data.length }), data]);
}

const PCM = 1;
const FLOAT = 3;
/** This number says that an extension of the header has the format. */
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
 * @throws RangeError for anything else
 */
export function readWav(bytes: Uint8Array): Sound {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tag = (at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (bytes.length < 12 || tag(0) !== 'RIFF' || tag(8) !== 'WAVE') throw new RangeError('a WAV file does not begin like this');
  let format: Format | undefined;
  for (let at = 12; at + 8 <= bytes.length;) {
    const length = view.getUint32(at + 4, true);
    const start = at + 8;
    if (tag(at) === 'fmt ' && start + 16 <= bytes.length) format = formatAt(view, start, length);
    if (tag(at) === 'data') {
      if (format === undefined) throw new RangeError('the data of this WAV file come before their format');
      return {
        sampleRate: format.sampleRate,
        samples: decode(bytes.subarray(start, Math.min(start + length, bytes.length)), format),
      };
    }
    // Chunks are padded to an even length.
    at = start + length + (length % 2);
  }
  throw new RangeError('this WAV file has no data');
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

function decode(data: Uint8Array, { code, channels, sampleRate, bits }: Format): Int16Array {
  const read = sampleReaders[`${code}/${bits}`];
  if (read === undefined || channels === 0 || sampleRate < 8_000 || sampleRate > 192_000)
    throw new RangeError(`a WAV file of format ${code} with ${bits} bits, ${channels} channels and ${sampleRate} Hz is not understood`);
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

/** Readers by format and bits; each returns a sample as one of 16 bits. */
const sampleReaders: Readonly<Record<string, (view: DataView, at: number) => number>> = {
  [`${PCM}/8`]: (view, at) => (view.getUint8(at) - 128) * 256,
  [`${PCM}/16`]: (view, at) => view.getInt16(at, true),
  [`${PCM}/24`]: (view, at) => view.getInt16(at + 1, true),
  [`${PCM}/32`]: (view, at) => view.getInt16(at + 2, true),
  [`${FLOAT}/32`]: (view, at) => view.getFloat32(at, true) * 32_767,
};
