/** Tests our client against servers of the official SDK: the reference server in TypeScript, and an example of the first version. */
import { createRequire } from 'node:module';

import { describe, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { servedProgram, type ServerProgram } from './served-program.ts';

const { resolve } = createRequire(import.meta.url);
const { start, kill, serve, port } = servedProgram();

const node = (file: string, ...args: readonly string[]): Pick<ServerProgram, 'command' | 'args'> => ({
  command: process.execPath,
  args: [file, ...args],
});

describe('the reference server in TypeScript', () => {
  const program = (): ServerProgram => ({
    ...node(resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'streamableHttp'),
    env: { PORT: String(port()) },
  });

  it('lists, calls, reports progress, answers with every kind of content, and is cancelled', async () => {
    const { version, pinned, call } = await serve(program());
    expect(version).toBe('2025-11-25');
    expect(pinned.tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image', 'trigger-long-running-operation']),
    );
    expect(await call('echo', { message: 'hello' })).toMatchObject({ succeeded: true, forModel: 'Echo: hello' });
    expect(await call('get-sum', { a: 2, b: 3 })).toMatchObject({ forModel: 'The sum of 2 and 3 is 5.' });
    expect(await call('get-structured-content', { location: 'Chicago' })).toMatchObject({
      forModel: { temperature: expect.any(Number) as number },
    });
    const image = JSON.stringify((await call('get-tiny-image')).forModel);
    expect(image).toContain('an image (image/png)');
    expect(image.length).toBeLessThan(1_000);
    expect(await call('trigger-long-running-operation', { duration: 1, steps: 5 })).toMatchObject({ succeeded: true });
    const stop = new AbortController();
    const stopped = call('trigger-long-running-operation', { duration: 60, steps: 60 }, stop.signal);
    stop.abort(new Error('interrupted'));
    expect(await stopped).toMatchObject({ detail: 'cancelled' });
    expect(await call('get-sum', { a: 'two', b: 3 })).toMatchObject({
      succeeded: false,
      forModel: { error: 'The service has refused the request.' },
    });
  });

  it('is used again after a restart, in the same call', async () => {
    const { call } = await serve(program());
    expect(await call('echo', { message: 'before' })).toMatchObject({ succeeded: true });
    await kill();
    expect(await call('echo', { message: 'away' })).toMatchObject({ succeeded: false });
    start(program());
    await eventually(async () => expect(await call('echo', { message: 'after' })).toMatchObject({ forModel: 'Echo: after' }));
  });
});

it("an example of the SDK's first version is called", async () => {
  const { version, call } = await serve({
    ...node(resolve('@modelcontextprotocol/sdk/examples/server/simpleStreamableHttp.js')),
    env: { MCP_PORT: String(port()) },
  });
  expect(version).toBe('2025-11-25');
  expect(await call('greet', { name: 'Ada' })).toMatchObject({ succeeded: true, forModel: 'Hello, Ada!' });
});
