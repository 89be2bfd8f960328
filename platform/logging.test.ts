import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { childLogger, createLogger } from './logging.ts';

const logging = fileURLToPath(new URL('logging.ts', import.meta.url));

/** Runs a program that logs; resolves with the messages on its standard output, and how it ended. */
async function messagesOf(program: string): Promise<{ readonly messages: readonly unknown[]; readonly code: number | null }> {
  const source = `import { createLogger } from ${JSON.stringify(logging)}; const logger = createLogger({ role: 'test', level: 'info' }); ${program}`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', source], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const lines = text.split('\n').filter((line) => line !== '');
  return { messages: lines.map((line) => (JSON.parse(line) as { msg: unknown }).msg), code };
}

describe('log lines', () => {
  it.each([
    ['comes to its end', '', 0],
    ['leaves', 'process.exit(3);', 3],
    ['breaks', "throw new Error('broken');", 1],
  ])('are all written when the process %s', async (_, end, code) => {
    const many = "for (let index = 0; index < 500; index += 1) logger.info('line ' + index);";
    const messages = Array.from({ length: 500 }, (_line, index) => `line ${index}`);
    expect(await messagesOf(many + end)).toEqual({ messages, code });
  });

  it('come out while the process goes on, few or many', async () => {
    // The program ends only when its own output is read back to it: by this test, when the line has come.
    const source = `import { createLogger } from ${JSON.stringify(logging)}; const logger = createLogger({ role: 'test', level: 'info' });
      process.stdin.on('data', () => logger.info('answer')).on('end', () => process.exit(0)); logger.info('hello');`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', source], { stdio: ['pipe', 'pipe', 'ignore'] });
    const next = (): Promise<string> => new Promise((resolve) => child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())));
    expect(await next()).toContain('hello');
    child.stdin.write('more');
    expect(await next()).toContain('answer');
    child.stdin.end();
    await new Promise((resolve) => child.once('close', resolve));
  });

  it('without a reader keep no process from its end', async () => {
    const source = `import { createLogger } from ${JSON.stringify(logging)}; const logger = createLogger({ role: 'test', level: 'info' });
      process.stdin.once('data', () => { logger.info('leaving'); process.exit(3); }); logger.info('hello');`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', source], { stdio: ['pipe', 'pipe', 'ignore'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.stdout.destroy();
    await new Promise((resolve) => child.stdout.once('close', resolve));
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.write('go');
    try {
      expect(await ended).toBe(3);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

describe('a child that changes its lines', () => {
  it('changes what errors say, too, and leaves the logger as it is', () => {
    const lines: unknown[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const logger = createLogger({ role: 'test', level: 'info', destination });
    const hide = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll('4242', '[card]'));
    const child = childLogger(logger.child({ callId: 'call_1' }), hide);
    child.warn({ reason: 'no 4242', count: 7, err: new Error('4242 is unknown') }, 'a tool failed');
    logger.info({ reason: '4242' }, 'as it is');
    expect(lines).toEqual([
      expect.objectContaining({
        callId: 'call_1',
        reason: 'no [card]',
        count: 7,
        err: expect.objectContaining({
          type: 'Error',
          message: '[card] is unknown',
          stack: expect.not.stringContaining('4242') as unknown,
        }),
      }),
      expect.objectContaining({ reason: '4242' }),
    ]);
  });
});
