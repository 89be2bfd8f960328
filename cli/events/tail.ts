/** Shows events as they are committed. */
import { openStore, watchOutbox, type EventRecord } from '../../store/index.ts';
import { sleep, systemClock } from '../../platform/clock.ts';
import { Wake } from '../../platform/wake.ts';
import { eventIdOf } from '../../events/envelope.ts';
import { interruptible } from '../interruptible.ts';
import { databaseUrl, explainStore } from '../database.ts';
import { requireOrganization } from './organization.ts';
import { eventNameOf } from './payload.ts';
import { EventWindow } from './window.ts';

export interface TailOptions {
  readonly org: string;
  readonly name?: string | undefined;
  readonly since?: Date | undefined;
}

const PAGE = 500;
/** Shortest and longest time between two looks, in milliseconds. */
const QUIET_MS = 150;
const POLL_MS = 2_000;

/** Ends at SIGINT or SIGTERM. @throws UserError for an unknown name or organisation, or a database that doesn't answer */
export async function tailEvents({ org, name, since }: TailOptions): Promise<void> {
  const only = name === undefined ? undefined : eventNameOf(name);
  const url = databaseUrl();
  await interruptible(
    ({ signal: stop }) =>
      explainStore(url, async () => {
        const store = openStore({ databaseUrl: url, poolSize: 2, applicationName: 'parley events' });
        const wake = new Wake(systemClock);
        stop.addEventListener('abort', () => wake.call());
        const watch = watchOutbox(store, () => wake.call());
        try {
          await requireOrganization(store, org);
          const window = new EventWindow(since?.getTime() ?? Date.now());
          while (!stop.aborted) {
            for (let after: string | undefined = window.from(); after !== undefined;) {
              const page: readonly EventRecord[] = await store.webhooks.events({ org, after, limit: PAGE });
              for (const event of page) if (window.isNew(event.id) && (only === undefined || event.name === only)) print(event);
              after = page.length < PAGE ? undefined : page.at(-1)?.id;
            }
            await sleep(systemClock, QUIET_MS, stop).catch(() => undefined);
            await wake.wait(POLL_MS);
          }
        } finally {
          await watch.stop();
          await store.close();
        }
      }),
    { whileRead: true },
  );
}

function print({ id, name, agent, workspace, createdAt, body }: EventRecord): void {
  const payload: unknown = body === undefined ? undefined : (JSON.parse(body.toString()) as { readonly payload?: unknown }).payload;
  process.stdout.write(`${JSON.stringify({ id: eventIdOf(id), name, agent, workspace, created_at: createdAt.toISOString(), payload })}\n`);
}
