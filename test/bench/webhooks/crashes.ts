/** Kills every process again and again while events are written, and counts whether all arrive everywhere, and how many twice. */
import { setTimeout as delay } from 'node:timers/promises';

import { roleComponent } from '../../../local-stack/components/role.ts';
import { freePorts } from '../../../local-stack/ports.ts';
import { Supervisor } from '../../../local-stack/supervisor.ts';
import { bundle } from '../harness/bundle.ts';
import { Metrics } from '../harness/prometheus.ts';
import { LOG_FOLDER } from '../harness/role.ts';
import { figure } from '../harness/table.ts';
import { emitInTurns } from './emit.ts';
import type { WebhooksHost, Site } from './host.ts';
import type { WebhooksPart } from './part.ts';

const subscriptions = 20;
/** Subscriptions that get everything; the others get one workspace each. */
const ofAll = 4;
/** Time between two kills, in milliseconds, to come back and to get to work. */
const pauseMs = 2_500;
const roles = ['dispatcher', 'worker', 'api'] as const;
const victims = [...roles, 'temporal', 'postgres'] as const;
type Victim = (typeof victims)[number];

interface Roles {
  readonly dispatcherPort: number;
  pid(role: (typeof roles)[number]): number | undefined;
  stop(): Promise<void>;
}

async function startRoles(host: WebhooksHost, site: Site): Promise<Roles> {
  const [dispatcherPort = 0, workerPort = 0, apiPort = 0] = await freePorts(3);
  const ports = { dispatcher: dispatcherPort, worker: workerPort, api: apiPort };
  const env = {
    PATH: process.env['PATH'],
    ...site.env,
    PARLEY_DISPATCHER_PORT: String(dispatcherPort),
    PARLEY_WORKER_PORT: String(workerPort),
    PARLEY_API_PORT: String(apiPort),
  };
  const supervisor = new Supervisor({
    components: roles.map((role) =>
      roleComponent({
        role,
        dependsOn: [],
        command: [process.execPath, bundle],
        port: ports[role],
        env: role === 'api' ? { ...env, KUBECONFIG: host.apiKubeconfig } : env,
      }),
    ),
    logDir: LOG_FOLDER,
    runDir: `${LOG_FOLDER}run`,
  });
  try {
    await supervisor.start();
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
  return { dispatcherPort, pid: (role) => supervisor.pid(role), stop: () => supervisor.stop() };
}

interface Kill {
  readonly victim: Victim;
  /** Deliveries that the dispatcher had sent, or taken an answer of, and not yet written down; undefined where it could not be asked. */
  readonly onTheirWay: number | undefined;
}

async function onTheirWay(port: number): Promise<number | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(500) });
    const metrics = Metrics.parse(await answer.text());
    return metrics.sum('parley_webhook_in_flight', { stage: ['sending', 'recording'] }) ?? 0;
  } catch {
    return undefined;
  }
}

export const crashes: WebhooksPart = async ({ host, scale, progress }) => {
  const { sink } = host;
  const site = await host.site();
  let started: Roles | undefined;
  try {
    const workspaces = Array.from({ length: subscriptions - ofAll }, (_, index) => `w-${index}`);
    await site.subscribe([
      ...Array.from({ length: ofAll }, (_, index) => ({ name: `all-${index}`, url: sink.url(`/all-${index}`) })),
      ...workspaces.map((workspace) => ({ name: workspace, url: sink.url(`/${workspace}`), workspace })),
    ]);
    const running = (started = await startRoles(host, site));
    const inAll = scale.kills * victims.length;
    const seconds = (inAll * pauseMs) / 1000 + 5;
    const emitting = emitInTurns({ ...site, workspaces, count: scale.crashEvents, perSecond: scale.crashEvents / seconds });
    // Whatever happens below, its end is waited for there.
    emitting.catch(() => undefined);
    const kills: Kill[] = [];
    for (let index = 0; index < inAll; index += 1) {
      await delay(pauseMs);
      const victim = victims[index % victims.length] ?? 'dispatcher';
      const pid = victim === 'temporal' || victim === 'postgres' ? host.serverPid(victim) : running.pid(victim);
      if (pid === undefined) {
        progress(`${victim} is not back yet`);
        index -= 1;
        continue;
      }
      kills.push({ victim, onTheirWay: await onTheirWay(running.dispatcherPort) });
      process.kill(pid, 'SIGKILL');
      progress(`killed ${victim} (${index + 1} of ${inAll})`);
    }
    const emitted = await emitting;
    const expected = new Set(
      emitted.flatMap(({ id, workspace }) => [
        `/${workspace} ${id}`,
        ...Array.from({ length: ofAll }, (_, index) => `/all-${index} ${id}`),
      ]),
    );
    progress('waiting for what is still to come');
    await sink.arrived(expected.size, 120_000).catch((error: unknown) => progress(String(error)));
    const count = async (): Promise<readonly { state: string; count: number; attempts: number }[]> =>
      site.rows('select state, count(*)::int as count, sum(attempts)::int as attempts from parley.deliveries group by 1 order by 1');
    let states = await count();
    for (let look = 0; look < 300 && states.some(({ state }) => state !== 'succeeded'); look += 1) {
      await delay(200);
      states = await count();
    }
    const [rows] = await site.rows<{ failed: number; succeeded: number }>(
      `select (count(*) filter (where not succeeded))::int as failed, (count(*) filter (where succeeded))::int as succeeded from parley.delivery_attempts`,
    );
    const [wrong] = await site.rows<{ count: number }>(
      `select count(*)::int as count from parley.deliveries d
       where d.attempts <> (select count(*) from parley.delivery_attempts a where a.delivery_id = d.id)`,
    );
    const arrivals = (await sink.arrivals()).map(({ path, id }) => `${path} ${id}`);
    const came = new Set(arrivals);
    const lost = [...expected].filter((key) => !came.has(key)).length;
    const unexpected = [...came].filter((key) => !expected.has(key)).length;
    const duplicates = arrivals.length - came.size;
    const atRisk = kills.reduce((sum, kill) => sum + (kill.onTheirWay ?? 0), 0);
    return {
      figures: { events: emitted.length, expected: expected.size, lost, unexpected, duplicates, kills, states, attempts: rows, wrong },
      tables: [
        {
          title: `${figure(emitted.length)} events over ${subscriptions} subscriptions while everything is killed`,
          columns: ['', ''],
          rows: [
            ['kills of dispatcher, worker, api, Temporal, Postgres', `${scale.kills} each`],
            ['deliveries that had to come', figure(expected.size)],
            ['lost', figure(lost)],
            ['came where they should not', figure(unexpected)],
            ['came more than once', figure(duplicates)],
            ['on their way at the moments of the kills', figure(atRisk)],
            ['attempts that are written down: successes, failures', `${figure(rows?.succeeded)}, ${figure(rows?.failed)}`],
            ['deliveries whose count of attempts is not that of their rows', figure(wrong?.count)],
            ['deliveries by state', states.map(({ state, count: number }) => `${figure(number)} ${state}`).join(', ')],
          ],
          notes: [
            `${ofAll} subscriptions get every event, the others a workspace each. A kill every ${pauseMs / 1000} s, in turns.`,
            'On their way: sent or answered, and not yet written down, as the dispatcher reports it right before each kill.',
          ],
        },
      ],
    };
  } finally {
    await started?.stop();
    await site.close();
  }
};
