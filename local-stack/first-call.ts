/** The call that the first start makes: the shortest proof that an agent of this stack hears, thinks and speaks. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import type { Console } from './console.ts';
import { duration } from './binaries/progress.ts';

/** A sentence that dev-speech understands, and answers briefly. */
const question = 'hello can you hear me';
/** The caller hangs up after so long, in seconds. */
const longestSeconds = 40;
/** Then the command is ended, in milliseconds: nobody waits longer for a tour. */
const withinMs = 90_000;

export interface FirstCallOptions {
  readonly agent: string;
  /** How to run `parley`. */
  readonly parley: readonly [file: string, ...args: string[]];
  /** PARLEY_URL, PARLEY_API_KEY and PARLEY_SPEECH_URL, and the person's own. */
  readonly env: NodeJS.ProcessEnv;
  /** File for the recording. */
  readonly record: string;
  readonly console: Console;
  readonly stop: AbortSignal;
}

/** A line of `parley call --json`. */
interface Told {
  readonly type?: string;
  readonly role?: 'agent' | 'user';
  readonly text?: string;
  readonly final?: boolean;
  readonly status?: string;
  readonly reason?: string | null;
  readonly recording?: string | null;
}

/** Through the command itself, as a person would. What goes wrong is told, and keeps nobody from anything. @returns whether it went well */
export async function makeFirstCall({ agent, parley: [file, ...args], env, record, console, stop }: FirstCallOptions): Promise<boolean> {
  const startedAt = performance.now();
  console.status('call', `  calling ${agent}`);
  const flags = ['--say', question, '--json', '--record', record, '--max-seconds', String(longestSeconds)];
  const child = spawn(file, [...args, 'call', agent, ...flags], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.any([stop, AbortSignal.timeout(withinMs)]),
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-2_000)));
  const said: string[] = [];
  let result: Told | undefined;
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    const told = readLine(line);
    if (told.type === 'transcript' && told.final === true) {
      said.push(`    ${told.role === 'agent' ? 'agent' : 'you  '}  ${told.text?.trim() ?? ''}`);
      console.status('call', `  calling ${agent}: ${told.text?.trim() ?? ''}`);
    }
    if (told.type === 'result') result = told;
  });
  const code = await new Promise<number | null>((resolve) => {
    child.on('error', (error) => {
      complaint ||= error.name === 'AbortError' ? `it had not ended after ${duration(withinMs)}` : error.message;
      resolve(null);
    });
    child.on('close', resolve);
  });
  console.status('call', undefined);
  stop.throwIfAborted();
  if (code === 0 && said.some((line) => line.startsWith('    agent'))) {
    console.line(`✓ a call to ${agent}, in ${duration(performance.now() - startedAt)}:`);
    for (const line of said) console.line(line);
    console.line(`    recording: ${result?.recording ?? 'none'}`);
    return true;
  }
  const why =
    result === undefined ? firstLine(complaint) : `it ended as ${result.status ?? 'nothing'}${result.reason ? `: ${result.reason}` : ''}`;
  console.line(
    `! the first call to ${agent} went wrong (${why || 'nothing was said'}): \`parley call ${agent} --say "${question}"\` tries again`,
  );
  return false;
}

function readLine(line: string): Told {
  try {
    return JSON.parse(line) as Told;
  } catch {
    return {};
  }
}

function firstLine(text: string): string {
  return (text.trim().split('\n')[0] ?? '').replace(/^parley: /, '');
}
