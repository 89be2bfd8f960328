/** The roles that (b) and (c) measure, as processes of their own on the bundle, with a database of their own. */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { freePorts } from '../../../local-stack/ports.ts';
import { migrate, openStore, type Store } from '../../../store/index.ts';
import { bundle, ensureBundle } from '../harness/bundle.ts';
import { query } from '../../support/sql.ts';
import { startChild, type Child } from '../harness/child.ts';
import { Metrics } from '../harness/prometheus.ts';
import type { ControlPlaneContext } from './part.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const logDir = fileURLToPath(new URL('../.build/', import.meta.url));

/** Requests are counted as in production, against limits that a benchmark doesn't reach. */
const unhindered = {
  PARLEY_RATE_LIMIT_KEY_PER_SECOND: '1000000',
  PARLEY_RATE_LIMIT_KEY_BURST: '1000000',
  PARLEY_RATE_LIMIT_ORGANIZATION_PER_SECOND: '1000000',
  PARLEY_RATE_LIMIT_ORGANIZATION_BURST: '1000000',
};

type RoleName = 'operator' | 'api';

export interface BenchRole {
  readonly pid: number;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  metrics(): Promise<Metrics>;
  stop(): Promise<void>;
}

/** Where roles run: bundle, database, permissions. */
export class RoleHost {
  readonly #databaseUrl: string;
  readonly #store: Store;
  readonly #kubeconfigs: Readonly<Record<RoleName, string>>;
  readonly #drop: () => Promise<void>;

  private constructor(options: { databaseUrl: string; kubeconfigs: Readonly<Record<RoleName, string>>; drop: () => Promise<void> }) {
    this.#databaseUrl = options.databaseUrl;
    this.#kubeconfigs = options.kubeconfigs;
    this.#drop = options.drop;
    this.#store = openStore({ databaseUrl: options.databaseUrl, poolSize: 2, applicationName: 'bench' });
  }

  static async open({ stack, progress }: Pick<ControlPlaneContext, 'stack' | 'progress'>): Promise<RoleHost> {
    await ensureBundle(progress);
    const server = await stack.databaseUrl();
    if (stack.roles === undefined)
      throw new Error('this part starts roles of its own and needs a stack of its own: leave --kubeconfig out');
    const name = `bench_${randomBytes(6).toString('hex')}`;
    await query(server, `create database ${name}`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    await migrate({ databaseUrl: url.href });
    return new RoleHost({
      databaseUrl: url.href,
      kubeconfigs: stack.roles,
      drop: async () => void (await query(server, `drop database if exists ${name} with (force)`)),
    });
  }

  /** Makes the namespace known as an organisation. */
  async addOrganization(namespace: string): Promise<void> {
    await this.#store.organizations.create({ name: namespace });
  }

  /** That many keys: the facade limits each key's rate, and clients are many. */
  async createApiKeys(namespace: string, count: number): Promise<readonly string[]> {
    const keys: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const { apiKey } = await this.#store.apiKeys.create({
        org: namespace,
        name: `bench ${index}`,
        permissions: ['*'],
        expirationDays: 1,
      });
      keys.push(apiKey);
    }
    return keys;
  }

  /** Starts a role with its production defaults, but for the number of requests that it allows, and waits until it says that it is ready. */
  async start(role: RoleName): Promise<BenchRole> {
    const [port = 0] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const child: Child = startChild({
      file: process.execPath,
      args: [bundle, role],
      env: {
        PATH: process.env['PATH'],
        KUBECONFIG: this.#kubeconfigs[role],
        DATABASE_URL: this.#databaseUrl,
        ...unhindered,
        [role === 'api' ? 'PARLEY_API_PORT' : 'PARLEY_OPERATOR_PORT']: String(port),
      },
      logFile: `${logDir}${role}.log`,
      cwd: repository,
    });
    try {
      await child.until('ready', async () => (await fetch(`${url}/readyz`)).ok);
    } catch (error) {
      await child.stop();
      throw error;
    }
    return {
      pid: child.pid,
      url,
      metrics: async () => Metrics.parse(await (await fetch(`${url}/metrics`)).text()),
      stop: () => child.stop(),
    };
  }

  async close(): Promise<void> {
    await this.#store.close();
    await this.#drop();
  }
}
