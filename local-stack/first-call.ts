/** Makes the call of the first start: the shortest proof that an agent of this stack hears, thinks and speaks. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { parseJson } from '../platform/json.ts';
import { duration } from './binaries/progress.ts';
import type { Console } from './console.ts';

/** A sentence that dev-speech understands, and answers briefly. */
const QUESTION = 'hello can you hear me';
/** The caller hangs up after this many seconds. */
const MAX_SECONDS = 40;
/** The command is killed after this many milliseconds. */
const TIMEOUT_MS = 90_000;

interface FirstCallOptions {
  readonly agent: string;
  /** Runs the `parley` command. */
  readonly parley: readonly [file: string, ...args: string[]];
  /** Holds PARLEY_URL, PARLEY_API_KEY and PARLEY_SPEECH_URL, and the person's own variables. */
  readonly env: NodeJS.ProcessEnv;
  /** File for the recording. */
  readonly record: string;
  readonly console: Console;
  readonly stop: AbortSignal;
}

/** A line of `parley call --json`. */
interface CallEvent {
  readonly type?: string;
  readonly role?: 'agent' | 'user';
  readonly text?: string;
  readonly final?: boolean;
  readonly status?: string;
  readonly reason?: string | null;
  readonly recording?: string | null;
}

/** Calls the agent with the command itself, as a person would. A failure only is reported. @returns whether the call went well */
export async function makeFirstCall({ agent, parley: [file, ...args], env, record, console, stop }: FirstCallOptions): Promise<boolean> {
  const startedAt = performance.now();
  console.status('call', `  calling ${agent}`);
  const flags = ['--say', QUESTION, '--json', '--record', record, '--max-seconds', String(MAX_SECONDS)];
  const child = spawn(file, [...args, 'call', agent, ...flags], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  let problem = '';
  child.stderr.on('data', (chunk: Buffer) => (problem = (problem + chunk.toString()).slice(-2_000)));
  const transcript: string[] = [];
  let result: CallEvent | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event = parseJson(line, {}) as CallEvent;
    if (event.type === 'transcript' && event.final === true) {
      transcript.push(`    ${event.role === 'agent' ? 'agent' : 'you  '}  ${event.text?.trim() ?? ''}`);
      console.status('call', `  calling ${agent}: ${event.text?.trim() ?? ''}`);
    }
    if (event.type === 'result') result = event;
  });
  const code = await new Promise<number | null>((resolve) => {
    child.on('error', (error) => {
      problem ||= error.name === 'AbortError' ? `it had not ended after ${duration(TIMEOUT_MS)}` : error.message;
      resolve(null);
    });
    child.on('close', resolve);
  });
  console.status('call', undefined);
  stop.throwIfAborted();
  if (code === 0 && transcript.some((line) => line.startsWith('    agent'))) {
    console.line(`✓ a call to ${agent}, in ${duration(performance.now() - startedAt)}:`);
    for (const line of transcript) console.line(line);
    console.line(`    recording: ${result?.recording ?? 'none'}`);
    return true;
  }
  const why =
    result === undefined ? firstLine(problem) : `it ended as ${result.status ?? 'nothing'}${result.reason ? `: ${result.reason}` : ''}`;
  console.line(
    `! the first call to ${agent} failed (${why || 'nothing was said'}): \`parley call ${agent} --say "${QUESTION}"\` tries again`,
  );
  return false;
}

function firstLine(text: string): string {
  return (text.trim().split('\n')[0] ?? '').replace(/^parley: /, '');
}
