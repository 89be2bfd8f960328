/** Uses microphone and speaker of this machine through the programs that its sound system brings along. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

import { CALLER_RATE } from '../../../voice/caller/caller-rate.ts';
import type { Speaker } from '../../../voice/caller/room-call.ts';

interface Program {
  readonly file: string;
  readonly args: readonly string[];
}

const rate = String(CALLER_RATE);
const pulse = ['--raw', '--format=s16le', `--rate=${rate}`, '--channels=1', '--latency-msec=60'];
const alsa = ['-q', '-t', 'raw', '-f', 'S16_LE', '-r', rate, '-c', '1'];
const pipeWire = ['--raw', '--format', 's16', '--rate', rate, '--channels', '1', '-'];
const sox = ['-q', '-t', 'raw', '-e', 'signed', '-b', '16', '-r', rate, '-c', '1', '-'];

export const recorders: readonly Program[] = [
  { file: 'parecord', args: pulse },
  { file: 'pw-record', args: pipeWire },
  { file: 'arecord', args: alsa },
  { file: 'rec', args: sox },
];
export const players: readonly Program[] = [
  { file: 'paplay', args: pulse },
  { file: 'pw-play', args: pipeWire },
  { file: 'aplay', args: alsa },
  { file: 'play', args: sox },
];

/** @returns the first of the programs that is on PATH */
export function findProgram(programs: readonly Program[], path: string | undefined): Program | undefined {
  const folders = (path ?? '').split(delimiter).filter((folder) => folder !== '');
  return programs.find(({ file }) =>
    folders.some((folder) => {
      try {
        accessSync(join(folder, file), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    }),
  );
}

export interface Device {
  stop(): void;
}

export interface DeviceEvents {
  /** Called when the program ends by itself: there is no such device, or it was taken away. */
  readonly onFailed: (why: string) => void;
}

/** Streams the microphone's audio until it is stopped. */
export function openMicrophone(
  program: Program,
  { onSamples, onFailed }: DeviceEvents & { readonly onSamples: (samples: Int16Array) => void },
): Device {
  const child = spawn(program.file, program.args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let odd: Buffer = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    const bytes = odd.length === 0 ? chunk : Buffer.concat([odd, chunk]);
    const even = bytes.length - (bytes.length % 2);
    odd = bytes.subarray(even);
    // Copies the bytes into a buffer of their own: samples have to begin at an even address.
    onSamples(new Int16Array(Uint8Array.from(bytes.subarray(0, even)).buffer));
  });
  return watched(child, program, onFailed);
}

/** Plays the sound that it is given, and drops what the device can't keep up with: late speech is worse than none. */
export function openSpeaker(program: Program, { onFailed }: DeviceEvents): Speaker {
  const child = spawn(program.file, program.args, { stdio: ['pipe', 'ignore', 'pipe'] });
  child.stdin.on('error', () => undefined);
  const device = watched(child, program, onFailed);
  return {
    ...device,
    play: (samples) => {
      if (child.stdin.writable && child.stdin.writableLength < CALLER_RATE)
        child.stdin.write(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength));
    },
  };
}

function watched(
  child: ChildProcessByStdio<Writable | null, Readable | null, Readable>,
  { file }: Program,
  onFailed: (why: string) => void,
): Device {
  let stopped = false;
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-1_000)));
  child.on('error', (error) => onFailed(`${file}: ${error.message}`));
  child.on('close', (code) => {
    const last = said.trim().split('\n').at(-1) || `it ended with exit code ${code}`;
    if (!stopped) onFailed(`${file}: ${last}`);
  });
  return {
    stop: () => {
      stopped = true;
      child.kill('SIGTERM');
    },
  };
}
