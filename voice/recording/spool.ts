/** The folder in which the jobs of a machine record: a folder for each call, with the sound and its facts. */
import { createHash } from 'node:crypto';
import { writeFileSync, renameSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { z } from 'zod';

import type { Config } from '../../platform/config/config.ts';
import { isAlive } from './process-identity.ts';

const SOUND_FILE = 'audio.ogg';
const FACTS_FILE = 'call.json';

const milliseconds = z.number().optional();
const facts = z.object({
  org: z.string(),
  id: z.string(),
  jobId: z.string(),
  /** Identity of the process that records, other calls too. */
  process: z.string(),
  /** Times of this machine's clock, in milliseconds since the epoch: the file begins, the call begins, the call ends, its job ends. */
  recordingFrom: milliseconds,
  from: milliseconds,
  to: milliseconds,
  left: milliseconds,
});

export type RecordingFacts = z.output<typeof facts>;

export interface SpooledRecording {
  readonly facts: RecordingFacts;
  readonly folder: string;
  readonly sound: string;
}

/** Returns PARLEY_VOICE_SPOOL, or a folder of the installation's own, named by its database. */
export function spoolFolderOf(config: Pick<Config, 'PARLEY_VOICE_SPOOL' | 'DATABASE_URL'>): string {
  if (config.PARLEY_VOICE_SPOOL !== undefined) return config.PARLEY_VOICE_SPOOL;
  const url = URL.parse(config.DATABASE_URL ?? '');
  const installation = createHash('sha256').update(`${url?.host}${url?.pathname}${url?.search}`).digest('hex').slice(0, 12);
  return join(tmpdir(), `parley-recordings-${installation}`);
}

/**
 * Creates the spool, or checks its owner: the encoder is started from there, and its name can be guessed.
 * @param user id of the user whose folder it has to be; undefined where there are no users
 * @throws Error for a folder of another user, or one into which others may write
 */
export async function ensureSpool(root: string, user = process.getuid?.()): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const { uid, mode } = await lstat(root);
  if (user === undefined) return;
  if (uid !== user) throw new Error(`the spool ${root} belongs to another user: set PARLEY_VOICE_SPOOL to a folder of its own`);
  if ((mode & 0o022) !== 0) throw new Error(`others may write into the spool ${root}: chmod go-w ${root}`);
}

export class Spool {
  readonly #root: string;

  /** Uses a spool. @param root made when it is first used; closed to other users */
  constructor(root: string) {
    this.#root = root;
  }

  /** Opens the folder of one call and job. */
  async open(known: RecordingFacts): Promise<SpooledRecording> {
    await ensureSpool(this.#root);
    const folder = join(this.#root, `${known.id}.${known.jobId.replaceAll(/[^A-Za-z0-9_-]/g, '-')}`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const recording = { facts: known, folder, sound: join(folder, SOUND_FILE) };
    this.note(recording, known);
    return recording;
  }

  /** Writes the facts at once, so that they are there if the process is gone a moment later. */
  note({ folder }: SpooledRecording, known: RecordingFacts): void {
    const file = join(folder, FACTS_FILE);
    writeFileSync(`${file}.new`, JSON.stringify(known), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  /** Returns the recordings whose job is over or gone, the oldest first. */
  async abandoned(): Promise<readonly SpooledRecording[]> {
    const names = (await readdir(this.#root).catch(() => [])).toSorted((a, b) => (a < b ? -1 : 1));
    const found: SpooledRecording[] = [];
    for (const name of names) {
      const folder = join(this.#root, name);
      const known = await readFacts(folder);
      if (known === undefined || (known.left === undefined && (await isAlive(known.process)))) continue;
      found.push({ facts: known, folder, sound: join(folder, SOUND_FILE) });
    }
    return found;
  }

  async remove({ folder }: SpooledRecording): Promise<void> {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readFacts(folder: string): Promise<RecordingFacts | undefined> {
  try {
    return facts.parse(JSON.parse(await readFile(join(folder, FACTS_FILE), 'utf8')));
  } catch {
    return undefined;
  }
}
