/** Writes events in two ways: by the command that users have, and by a process that takes turns among workspaces. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { bundle } from '../harness/bundle.ts';

const run = promisify(execFile);
const mostOutput = 256 * 2 ** 20;

export interface EmitterOptions {
  readonly databaseUrl: string;
  readonly org: string;
  /** These workspaces take turns. */
  readonly workspaces: readonly string[];
  readonly count: number;
  readonly perSecond: number;
}

/** Times are milliseconds since the Unix epoch. */
export interface Emitted {
  /** `evt_…` */
  readonly id: string;
  readonly workspace: string;
  readonly madeAt: number;
  readonly committedAt: number;
}

/** Runs `parley events emit`, as its users do. Its times are whole milliseconds. */
export async function emitByCommand(options: {
  readonly databaseUrl: string;
  readonly org: string;
  readonly count: number;
  readonly perSecond?: number;
  readonly workspace?: string;
}): Promise<readonly Emitted[]> {
  const { databaseUrl, org, count, perSecond, workspace } = options;
  const args = ['events', 'emit', '--name', 'CallHandler.CallStarted', '--org', org, '--count', String(count)];
  if (perSecond !== undefined) args.push('--rate', String(perSecond));
  if (workspace !== undefined) args.push('--workspace', workspace);
  const { stdout } = await run(process.execPath, [bundle, ...args], {
    env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl },
    maxBuffer: mostOutput,
  });
  return linesOf(stdout).map((line) => {
    const { id, committed_at: committedAt } = JSON.parse(line) as { readonly id: string; readonly committed_at: number };
    // The first 48 bits of a UUIDv7 are its time.
    return { id, workspace: workspace ?? '', madeAt: Number.parseInt(id.slice(4, 12) + id.slice(13, 17), 16), committedAt };
  });
}

export async function emitInTurns(options: EmitterOptions): Promise<readonly Emitted[]> {
  const script = fileURLToPath(new URL('./emitter.ts', import.meta.url));
  const { stdout } = await run(process.execPath, [script, JSON.stringify(options)], {
    env: { PATH: process.env['PATH'] },
    maxBuffer: mostOutput,
  });
  return linesOf(stdout).map((line) => {
    const [id = '', workspace = '', madeAt = '', committedAt = ''] = line.split(' ');
    return { id, workspace, madeAt: Number(madeAt), committedAt: Number(committedAt) };
  });
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');
