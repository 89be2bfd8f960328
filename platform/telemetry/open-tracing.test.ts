import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

import { expect, it } from 'vitest';

import { createLogger } from '../logging.ts';
import { openTracing, wantsTraces } from './open-tracing.ts';
import { currentTrace, inSpan, isTracing, startSpan } from './tracing.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));

it.each([
  [{}, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/v1/traces' }, true],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' }, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_TRACES_EXPORTER: 'none' }, false],
  [{ OTEL_SERVICE_NAME: 'parley', OTEL_TRACES_SAMPLER: 'always_on' }, false],
])('with %j it is %s that traces are wanted', (env, wanted) => {
  expect(wantsTraces(env)).toBe(wanted);
});

it('loads nothing that makes or sends spans unless an address is set', async () => {
  const program = `
    import { createRequire } from 'node:module';
    for (const role of ['api', 'operator', 'webhooks/dispatcher']) await import('${repository}' + role + '/main.ts');
    const { openTracing } = await import('${repository}platform/telemetry/open-tracing.ts');
    // prom-client asks the interface whether anybody traces.
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).filter((path) => /@opentelemetry.(?!api\\b)/.test(path)).length;
    const before = loaded();
    const tracing = await openTracing({ env: process.env, role: 'api', logger: { debug() {} } });
    console.log(JSON.stringify({ before, after: loaded() }));
    await tracing.close();
    process.exit(0);`;
  const loadedWith = async (env: NodeJS.ProcessEnv): Promise<{ readonly before: number; readonly after: number }> => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: repository,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await new Promise((resolve) => child.once('close', resolve));
    return JSON.parse(text) as { readonly before: number; readonly after: number };
  };
  expect(await loadedWith({})).toEqual({ before: 0, after: 0 });
  const wanted = await loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
  expect(wanted.before).toBe(0);
  expect(wanted.after).toBeGreaterThan(0);
});

it('does work as it is where nothing is traced', async () => {
  expect(isTracing()).toBe(false);
  const span = startSpan({ name: 'nothing' });
  expect([span.context, span.reference, currentTrace()]).toEqual([undefined, undefined, undefined]);
  expect(await inSpan({ name: 'nothing' }, async () => 7)).toBe(7);
  await expect(inSpan({ name: 'nothing' }, () => Promise.reject(new Error('as it is')))).rejects.toThrow('as it is');
});

it('logs once that the collector takes no spans, delays nothing, and ends all the same', async () => {
  // The server accepts connections and never answers: worse than one that refuses.
  const hanging = createServer(() => undefined);
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
  const { port } = hanging.address() as { readonly port: number };
  const lines: string[] = [];
  const logger = createLogger({ role: 'test', level: 'info', destination: { write: (line: string) => void lines.push(line) } });
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    OTEL_BSP_SCHEDULE_DELAY: '10',
    OTEL_BSP_EXPORT_TIMEOUT: '300',
  };
  Object.assign(process.env, env);
  try {
    const tracing = await openTracing({ env, role: 'test', version: '1', logger });
    for (let index = 0; index < 5_000; index += 1) startSpan({ name: 'one of many', parent: 'none' }).end();
    const inside = await inSpan({ name: 'outer' }, async (outer) => {
      logger.info('inside');
      return { current: currentTrace(), outer: outer.context };
    });
    expect(inside.current).toEqual(inside.outer);
    expect(inside.current?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(currentTrace()).toBeUndefined();
    const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    await expect.poll(() => logged().filter(({ level }) => level === 'warn').length).toBe(1);
    expect(logged().find(({ msg }) => msg === 'inside')).toMatchObject({ traceId: inside.current?.traceparent.slice(3, 35) });
    await tracing.close();
    expect(isTracing()).toBe(false);
    expect(logged().filter(({ level }) => level === 'warn')).toHaveLength(1);
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
    hanging.close();
    hanging.closeAllConnections();
  }
});
