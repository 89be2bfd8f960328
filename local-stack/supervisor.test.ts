import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { eventually } from '../test/support/eventually.ts';
import { settle } from '../test/support/fake-clock.ts';
import { testFolder } from '../test/support/folders.ts';
import { processAlive } from './processes.ts';
import { type Component, type ComponentEvent, ComponentFailedError, Supervisor } from './supervisor.ts';

let folder: string;
let events: ComponentEvent[];
let supervisors: Supervisor[];

beforeEach(() => {
  folder = testFolder();
  events = [];
  supervisors = [];
});

afterEach(() => Promise.all(supervisors.map((supervisor) => supervisor.stop(AbortSignal.abort()))));

/** Runs a process that says in a file when it serves, and writes its name on SIGTERM. It may take its time. */
function part(name: string, options: Partial<Component> & { readonly script?: string } = {}): Component {
  const {
    script = `trap 'echo ${name} >> stopped; exit 0' TERM; echo up-${name}; touch serving-${name}; while :; do sleep 0.05; done`,
    ...rest
  } = options;
  return {
    name,
    dependsOn: [],
    readyTimeoutMs: 600_000,
    stopTimeoutMs: 600_000,
    command: () => ({ file: '/bin/sh', args: ['-c', script], cwd: folder }),
    check: async () => existsSync(join(folder, `serving-${name}`)),
    ...rest,
  };
}

function supervise(...components: readonly Component[]): Supervisor {
  const supervisor = new Supervisor({
    components,
    logDir: join(folder, 'logs'),
    runDir: join(folder, 'run'),
    onEvent: (event) => events.push(event),
  });
  supervisors.push(supervisor);
  return supervisor;
}

const pidFile = (name: string): number => Number(readFileSync(join(folder, 'run', `${name}.pid`), 'utf8'));
const log = (name: string): string => readFileSync(join(folder, 'logs', `${name}.log`), 'utf8');

describe('Supervisor', () => {
  it('has a component yield to the others where it says so', async () => {
    await supervise(part('usual'), part('nice', { nice: 10 })).start();
    const sessionOf = (name: string): string | undefined => {
      const file = `/proc/${pidFile(name)}/autogroup`;
      return existsSync(file) ? /nice -?\d+/.exec(readFileSync(file, 'utf8'))?.[0] : undefined;
    };
    const usual = getPriority();
    expect([getPriority(pidFile('usual')), getPriority(pidFile('nice'))]).toEqual([usual, 10]);
    if (sessionOf('usual') !== undefined) expect([sessionOf('usual'), sessionOf('nice')]).toEqual(['nice 0', 'nice 10']);
  });

  it('starts a component only when those it depends on are ready, and stops them the other way round', async () => {
    const supervisor = supervise(part('last', { dependsOn: ['middle'] }), part('middle', { dependsOn: ['first'] }), part('first'));
    await supervisor.start();
    const ready = events.filter(({ state }) => state === 'ready').map((event) => event.component);
    expect(ready).toEqual(['first', 'middle', 'last']);
    expect(events.findIndex((event) => event.component === 'middle' && event.state === 'starting')).toBeGreaterThan(
      events.findIndex((event) => event.component === 'first' && event.state === 'ready'),
    );

    await supervisor.stop();
    expect(readFileSync(join(folder, 'stopped'), 'utf8').trim().split('\n')).toEqual(['last', 'middle', 'first']);
    expect(existsSync(join(folder, 'run/first.pid'))).toBe(false);
  });

  it('starts a killed component again, with a new pid in its file and the log kept', async () => {
    const supervisor = supervise(part('role'));
    await supervisor.start();
    const pids = [pidFile('role')];
    for (let round = 1; round <= 3; round += 1) {
      await eventually(() => expect(log('role').match(/up-role/g)).toHaveLength(round));
      process.kill(pids.at(-1)!, 'SIGKILL');
      await eventually(() => {
        expect(events.filter(({ state }) => state === 'ready')).toHaveLength(round + 1);
      });
      pids.push(pidFile('role'));
      expect(pidFile('role')).toBe(supervisor.pid('role'));
    }
    expect(new Set(pids).size).toBe(4);
    await eventually(() => {
      expect(log('role').match(/up-role/g)).toHaveLength(4);
    });
    expect(log('role')).toContain('was killed by SIGKILL; starting it again');
  });

  it('waits longer each time a component dies young, and says how it died', async () => {
    const script = 'touch serving-flaky; until [ -e dies ]; do sleep 0.05; done; echo out of luck; exit 3';
    const supervisor = supervise(part('flaky', { script }));
    await supervisor.start();
    writeFileSync(join(folder, 'dies'), '');
    await eventually(() => {
      expect(log('flaky')).toMatch(/in 100 ms[\s\S]*in 250 ms[\s\S]*in 500 ms/);
    });
    expect(events.find(({ reason }) => reason !== undefined)?.reason).toBe('ended with exit code 3');
  });

  it('fails the start with the last lines of a component that ends before it serves', async () => {
    const supervisor = supervise(
      part('broken', { script: 'echo first >&2; echo "the disk is full" >&2; exit 7' }),
      part('dependant', { dependsOn: ['broken'] }),
    );
    const failure = await supervisor.start().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ComponentFailedError);
    expect((failure as ComponentFailedError).message).toBe('broken ended with exit code 7');
    expect((failure as ComponentFailedError).logTail).toEqual(['first', 'the disk is full']);
    expect(events.some((event) => event.component === 'dependant' && event.state === 'starting')).toBe(false);
  });

  it('fails the start of a component that never serves, and of one whose program is missing', async () => {
    const silent = supervise(part('silent', { script: 'sleep 60', readyTimeoutMs: 300 }));
    await expect(silent.start()).rejects.toThrow('silent was not ready after 0 s');
    const missing = supervise(part('missing', { command: () => ({ file: join(folder, 'no-such-program'), args: [] }) }));
    await expect(missing.start()).rejects.toThrow(/missing could not be started \(.*ENOENT/);
  });

  it('kills a component that ignores the stop signal', async () => {
    const supervisor = supervise(
      part('deaf', { script: "trap '' TERM; touch serving-deaf; while :; do sleep 0.05; done", stopTimeoutMs: 200 }),
    );
    await supervisor.start();
    const pid = pidFile('deaf');
    await supervisor.stop();
    expect(processAlive(pid)).toBe(false);
  });

  it('does not start a component again that dies while the stack stops', async () => {
    const supervisor = supervise(part('role'));
    await supervisor.start();
    const started = events.filter(({ state }) => state === 'starting').length;
    await supervisor.stop();
    expect(events.filter(({ state }) => state === 'starting')).toHaveLength(started);
    expect(supervisor.state('role')).toBe('stopped');
  });

  it('prepares once, and runs what follows the first readiness before dependants start', async () => {
    const order: string[] = [];
    const supervisor = supervise(
      part('server', {
        prepare: async () => {
          order.push('prepared');
        },
        afterReady: async () => {
          order.push('furnished');
          writeFileSync(join(folder, 'furnished'), '');
        },
      }),
      part('client', {
        dependsOn: ['server'],
        prepare: async () => void order.push(existsSync(join(folder, 'furnished')) ? 'client' : 'too early'),
      }),
    );
    await supervisor.start();
    process.kill(pidFile('server'), 'SIGKILL');
    await eventually(() => {
      expect(events.filter((event) => event.component === 'server' && event.state === 'ready')).toHaveLength(2);
    });
    expect(order).toEqual(['prepared', 'furnished', 'client']);
  });

  it('starts nothing that was being prepared when the stack was stopped, and stops when that is over', async () => {
    const [began, prepared] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const supervisor = supervise(
      part('slow', {
        prepare: () => {
          began.resolve();
          return prepared.promise;
        },
      }),
    );
    const start = supervisor.start().catch((error: unknown) => error);
    await began.promise;
    const stopped = vi.fn<() => void>();
    const stop = supervisor.stop().finally(stopped);
    await settle();
    expect(stopped).not.toHaveBeenCalled();

    prepared.resolve();
    await stop;
    expect(await start).toBeInstanceOf(Error);
    expect(supervisor.pid('slow')).toBeUndefined();
    expect(events.map(({ state }) => state)).toEqual(['preparing']);
  });
});
