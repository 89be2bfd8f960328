/** Runs scenarios of sipp, which speaks SIP as carriers do (https://sipp.sourceforge.net). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { testBinary } from '../support/programs.ts';
import { syntheticSpeech } from '../support/synthetic-speech.ts';

/** Numbers of the two parties, and the login of the caller. */
export interface Parties {
  readonly caller: string;
  readonly callee: string;
  readonly user: string;
  readonly password: string;
}

export interface SippRun {
  /** Name of a file in this folder: `caller-talks.xml`. */
  readonly scenario: string;
  /** Port of this side; left out, any. Ports for sound it finds by itself. */
  readonly port?: number;
  /** Address that calls go to, `host:port`; left out, it waits for one. */
  readonly target?: string;
  readonly parties: Parties;
  /** Milliseconds that parties talk who hang up by themselves. */
  readonly talkMs?: number;
  /** Status that `called-refuses.xml` answers, with its reason phrase. */
  readonly status?: string;
  /** Ends the scenario. */
  readonly signal?: AbortSignal;
}

/** Most milliseconds that one scenario may take. */
const longestMs = 90_000;

/** Resolves when one call went as the scenario has it. @throws Error that says what was unexpected */
export async function runSipp({
  scenario,
  port,
  target,
  parties,
  talkMs = 4_000,
  status = '486 Busy Here',
  signal,
}: SippRun): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sipp-'));
  try {
    await writeFile(join(folder, 'audio.ulaw'), speech());
    const keys = Object.entries(parties).flatMap(([name, value]) => ['-key', name, value as string]);
    // The program's keywords may stand in a status line, but not for the code, which it reads before.
    const text = await readFile(new URL(scenario, import.meta.url), 'utf8');
    await writeFile(join(folder, 'scenario.xml'), text.replaceAll('{status}', status));
    const scene = ['-sf', 'scenario.xml', ...(target === undefined ? [] : [target]), '-m', '1', '-d', String(talkMs)];
    const media = ['-i', '127.0.0.1', ...(port === undefined ? [] : ['-p', String(port)]), '-rtp_echo'];
    const login = [...keys, '-au', parties.user, '-ap', parties.password];
    const args = [...scene, ...media, ...login, '-nostdin', '-trace_err', '-error_file', 'errors'];
    const child = spawn(await testBinary('sipp'), args, { cwd: folder, env: { ...process.env, TERM: 'xterm' }, stdio: 'ignore' });
    const ended = AbortSignal.any([AbortSignal.timeout(longestMs), ...(signal === undefined ? [] : [signal])]);
    ended.addEventListener('abort', () => void child.kill());
    const [code] = (await once(child, 'exit')) as [number | null];
    // A program that ends before any call came answers that no call failed: exit code 0.
    if (code === 0 && !child.killed) return;
    const said = await readFile(join(folder, 'errors'), 'utf8').catch(() => '');
    throw new Error(`${scenario} did not go as it is written (${child.killed ? 'ended' : code}): ${said}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes the sound of somebody who listens, speaks, and listens again, as telephones carry it: µ-law, 8 kHz. It is repeated. */
function speech(): Buffer {
  const words = syntheticSpeech({ sampleRate: 8_000, ms: 3_000 });
  const listened = 8 * 2_500;
  return Buffer.from(Array.from({ length: 8 * 8_000 }, (_, n) => muLaw(words[n - listened] ?? 0)));
}

/** Encodes a sample by ITU-T G.711. */
function muLaw(sample: number): number {
  const magnitude = Math.min(Math.abs(sample), 32_635) + 132;
  const exponent = Math.floor(Math.log2(magnitude)) - 7;
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff;
}
