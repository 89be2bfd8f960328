/** WAV files of 16-bit samples. */

export interface Sound {
  /** Interleaved, where there is more than one channel. */
  readonly samples: Int16Array;
  /** Hz. */
  readonly sampleRate: number;
  readonly channels: number;
}

/** @param options.dataBytes as the head is to say it: for a file that is streamed, as long as it may get */
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

export function wavOf({ samples, sampleRate, channels }: Sound): Buffer {
  const data = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  return Buffer.concat([wavHeader({ sampleRate, channels, dataBytes: data.length }), data]);
}

/** @throws RangeError for what is no WAV file of 16 bits */
export function readWav(file: Buffer): Sound {
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') throw new RangeError('this is no WAV file');
  let sampleRate = 0;
  let channels = 0;
  for (let at = 12; at + 8 <= file.length;) {
    const id = file.toString('latin1', at, at + 4);
    const length = Math.min(file.readUInt32LE(at + 4), file.length - at - 8);
    if (id === 'fmt ' && length >= 16) {
      channels = file.readUInt16LE(at + 10);
      sampleRate = file.readUInt32LE(at + 12);
      if (file.readUInt16LE(at + 22) !== 16 || channels === 0 || sampleRate === 0) throw new RangeError('this is no WAV file of 16 bits');
    }
    if (id === 'data' && channels > 0) {
      const data = Uint8Array.from(file.subarray(at + 8, at + 8 + length - (length % (2 * channels))));
      return { samples: new Int16Array(data.buffer), sampleRate, channels };
    }
    at += 8 + length + (length % 2);
  }
  throw new RangeError('this WAV file has no sound in it');
}
