/** Runs `parley events` as a person or a script does. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';

import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { openDispatchStore, type OutboxEvent } from '../../../store/index.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { parleyHere } from '../../support/parley-command.ts';
import { migratedDatabase, openPatientStore } from '../../support/postgres.ts';
import { run, type Finished } from '../../support/run.ts';
import { parleyEntry } from '../../support/stack.ts';

const org = 'acme';

let env: Readonly<Record<string, string>>;
let kubectl: (...args: readonly string[]) => Promise<Finished>;
beforeAll(async () => {
  const [{ url }, { kubeconfig, kubectl: binary }] = await Promise.all([migratedDatabase(), controlPlane()]);
  env = { DATABASE_URL: url, KUBECONFIG: kubeconfig, PARLEY_ORG: org };
  kubectl = (...args) => run(binary, [`--kubeconfig=${kubeconfig}`, ...args]);
  const store = openPatientStore(url);
  await store.organizations.create({ name: org });
  await store.close();
});

const events = (...args: readonly string[]): Promise<Finished> => parleyHere(['events', ...args], env);

interface Line {
  readonly id: string;
  readonly name: string;
  readonly committed_at: number;
}

const linesOf = ({ stdout }: Finished): readonly Line[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

/** Returns everything that is to be relayed. */
async function outbox(): Promise<readonly OutboxEvent[]> {
  const dispatch = openDispatchStore({ databaseUrl: env['DATABASE_URL'] ?? '' });
  const all: OutboxEvent[] = [];
  try {
    while ((await dispatch.takeOutbox(500, (taken) => (all.push(...taken), { deliveries: [] }))).taken > 0);
    return all;
  } finally {
    await dispatch.close();
  }
}

describe('parley events emit', () => {
  it('writes events as the platform does, and says when each was committed', async () => {
    const done = await events(
      'emit',
      '--name',
      'CallHandler.CallEnded',
      '--agent',
      'reception',
      '--workspace',
      'north',
      '--payload',
      '{"n":1}',
      '--count',
      '70',
    );
    const lines = linesOf(done);
    expect(lines).toHaveLength(70);
    expect(new Set(lines.map(({ id }) => id)).size).toBe(70);
    for (const { id, name, committed_at: at } of lines) {
      expect([id, name]).toEqual([
        expect.stringMatching(/^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
        'CallHandler.CallEnded',
      ]);
      // The event happened not before its id was made, by the time that is in it.
      expect(at).toBeGreaterThanOrEqual(Number.parseInt(id.slice(4).replace('-', '').slice(0, 12), 16));
    }
    const written = await outbox();
    expect(written.map(({ id }) => `evt_${id}`).sort()).toEqual(lines.map(({ id }) => id).sort());
    expect(written[0]).toMatchObject({ org, agent: 'reception', workspace: 'north', name: 'CallHandler.CallEnded' });
    expect(JSON.parse(written[0]?.body.toString() ?? '')).toMatchObject({
      organizationId: org,
      traceId: `evt_${written[0]?.id}`,
      eventName: 'CallHandler.CallEnded',
      payload: { n: 1 },
    });
  });

  it('spreads them evenly at a rate', async () => {
    const lines = linesOf(await events('emit', '--name', 'Webhook.Test', '--count', '60', '--rate', '100'));
    expect(lines).toHaveLength(60);
    const made = lines.map(({ id }) => Number.parseInt(id.slice(4, 12) + id.slice(13, 17), 16)).toSorted((a, b) => a - b);
    expect((made.at(-1) ?? 0) - (made[0] ?? 0)).toBeGreaterThanOrEqual(580);
    await outbox();
  });

  it.each<[string[], RegExp, code?: number]>([
    [['--name', 'Call.Started'], /no event "Call\.Started"[^]*CallHandler\.CallStarted[^]*Webhook\.Test/],
    [['--name', 'Webhook.Test', '--payload', '[1]'], /--payload is no JSON object: it is a list/],
    [['--name', 'Webhook.Test', '--org', 'absent'], /no organisation "absent"[^]*parley org create absent/],
    [['--name', 'Webhook.Test', '--rate', 'x'], /a number above 0/, 2],
  ])('explains what is wrong with %j, and prints no event', async (args, message, code = 1) => {
    const done = await events('emit', ...args);
    expect(done).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
    expect(done.stderr).not.toMatch(/\n {4}at /);
  });

  it('knows an organisation by its label alone', async () => {
    const name = `cli-${randomBytes(4).toString('hex')}`;
    await kubectl('create', 'namespace', name);
    expect(await events('emit', '--name', 'Webhook.Test', '--org', name)).toMatchObject({ code: 1, stdout: '' });
    await kubectl('label', 'namespace', name, 'parley.dev/organization=true');
    expect(linesOf(await events('emit', '--name', 'Webhook.Test', '--org', name))).toHaveLength(1);
    expect(await outbox()).toMatchObject([{ org: name }]);
  });
});

describe('parley events tail', () => {
  it('shows what is committed from then on, each event once, and stops on SIGTERM', async () => {
    const tail = spawn(process.execPath, [parleyEntry, 'events', 'tail', '--name', 'Webhook.Test'], { env: { ...process.env, ...env } });
    onTestFinished(() => void tail.kill('SIGKILL'));
    let output = '';
    tail.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const ids = (): readonly string[] => output.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as Line).id]));
    const emitted: string[] = [];
    // It may not be looking yet when the first ones are written.
    await expect
      .poll(async () => {
        emitted.push(...linesOf(await events('emit', '--name', 'Webhook.Test', '--payload', '{"n":2}')).map(({ id }) => id));
        return ids().length;
      })
      .toBeGreaterThan(0);
    const more = linesOf(await events('emit', '--name', 'Webhook.Test', '--count', '20'));
    await events('emit', '--name', 'CallHandler.CallEnded');
    await expect.poll(() => more.filter(({ id }) => !ids().includes(id))).toEqual([]);
    expect(JSON.parse(output.split('\n')[0] ?? '')).toMatchObject({
      name: 'Webhook.Test',
      payload: { n: 2 },
      created_at: expect.any(String),
    });
    expect(new Set(ids()).size).toBe(ids().length);
    expect(output).not.toContain('CallEnded');
    const ended = new Promise((resolve) => tail.once('exit', resolve));
    tail.kill('SIGINT');
    expect(await ended).toBe(0);
    await outbox();
  });
});
