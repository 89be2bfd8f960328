/** Tests our client against both versions of the official SDK in Python. */
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { testPython } from '../../support/programs.ts';
import { servedProgram } from './served-program.ts';

const { start, kill, serve, port } = servedProgram();

describe('a server in Python (the official SDK)', () => {
  it.each([
    ['1.30.0', '2025-11-25'],
    ['2.3.0', '2026-07-28'],
  ])('of version %s speaks %s', async (release, spoken) => {
    const interpreter = await testPython({ name: 'mcp', requirements: [`mcp==${release}`] });
    const program = { command: interpreter, args: [fileURLToPath(new URL('python-server.py', import.meta.url)), String(port())] };
    const { version, call } = await serve(program);
    expect(version).toBe(spoken);
    expect(JSON.stringify((await call('echo', { text: 'hello' })).forModel)).toContain('hello');
    expect(await call('refuse')).toMatchObject({
      succeeded: false,
      forModel: { answer: expect.stringContaining('no such order') as string },
    });
    expect(JSON.stringify((await call('progress', { steps: 5 })).forModel)).toContain('after 5 steps');
    expect(await call('big')).toMatchObject({ succeeded: false, detail: 'too_large' });
    const stop = new AbortController();
    const stopped = call('hang', {}, stop.signal);
    await eventually(async () => expect(JSON.stringify((await call('hung')).forModel)).toContain('1 hung'));
    stop.abort(new Error('interrupted'));
    expect(await stopped).toMatchObject({ detail: 'cancelled' });
    await kill();
    start(program);
    await eventually(async () => expect(JSON.stringify((await call('echo', { text: 'after' })).forModel)).toContain('after'));
  });
});
