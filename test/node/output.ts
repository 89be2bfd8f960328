import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Runs a command and returns its standard output.
 * @throws Error with both of its outputs when it fails
 */
export async function output(
  [file, ...args]: readonly [string, ...string[]],
  {
    env = process.env,
    timeoutMs = 300_000,
    input = '',
  }: { readonly env?: NodeJS.ProcessEnv; readonly timeoutMs?: number; readonly input?: string } = {},
): Promise<string> {
  try {
    const running = promisify(execFile)(file, args, { env, timeout: timeoutMs, maxBuffer: 32 * 1024 * 1024 });
    // The reader may be gone already.
    running.child.stdin?.on('error', () => undefined).end(input);
    return (await running).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${file} ${args.slice(0, 6).join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}
