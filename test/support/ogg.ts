/** Reads and writes Ogg Opus with ffmpeg, which has its own idea of the format. */
import { execFile, type ExecFileOptionsWithBufferEncoding } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Returns the ffmpeg that comes with the agent server. */
export function ffmpegPath(): string {
  const require = createRequire(fileURLToPath(import.meta.resolve('@livekit/agents')));
  return (require('@livekit/av') as { getFfmpegPath(): string }).getFfmpegPath();
}

export interface DecodedStereo {
  readonly sampleRate: number;
  readonly left: Int16Array;
  readonly right: Int16Array;
  readonly seconds: number;
}

/** @throws Error if ffmpeg complains in any way */
export async function decodeOgg(file: Uint8Array): Promise<DecodedStereo> {
  const sampleRate = 48_000;
  const pcm = await ffmpeg(['-xerror', '-f', 'ogg', '-i', 'pipe:0', '-f', 's16le', '-ar', String(sampleRate), 'pipe:1'], file);
  const both = new Int16Array(pcm.buffer.slice(pcm.byteOffset, pcm.byteOffset + pcm.byteLength));
  const half = both.length / 2;
  return {
    sampleRate,
    left: Int16Array.from({ length: half }, (_, index) => both[2 * index]!),
    right: Int16Array.from({ length: half }, (_, index) => both[2 * index + 1]!),
    seconds: half / sampleRate,
  };
}

/** Encodes as the agent server's recorder does. */
export async function encodeOgg({ left, right }: { readonly left: Int16Array; readonly right: Int16Array }): Promise<Buffer> {
  const both = new Int16Array(left.length * 2);
  for (let index = 0; index < left.length; index += 1) both.set([left[index]!, right[index]!], 2 * index);
  const options = [
    '-f',
    's16le',
    '-ar',
    '48000',
    '-channel_layout',
    'stereo',
    '-i',
    'pipe:0',
    '-c:a',
    'libopus',
    '-b:a',
    '96k',
    '-f',
    'ogg',
    'pipe:1',
  ];
  return ffmpeg(options, Buffer.from(both.buffer));
}

function ffmpeg(args: readonly string[], input: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options: ExecFileOptionsWithBufferEncoding = { encoding: 'buffer', maxBuffer: 1024 ** 3 };
    const child = execFile(ffmpegPath(), ['-v', 'warning', ...args], options, (error, stdout, stderr) => {
      if (error !== null) reject(error);
      else if (stderr.length > 0) reject(new Error(`ffmpeg: ${stderr.toString()}`));
      else resolve(stdout);
    });
    child.stdin?.on('error', () => undefined).end(input);
  });
}
