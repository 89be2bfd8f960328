/** Runs the roles that (b) and (c) measure as processes of their own on the bundle, with a database of their own. */
import { openStore, type Store } from '../../../store/index.ts';
import { ensureBundle } from '../harness/bundle.ts';
import { createDatabase, startRole, type BenchRole } from '../harness/role.ts';
import type { ControlPlaneContext } from './part.ts';

/** Requests are counted as in production, against limits that a benchmark doesn't reach. */
const unhindered = {
  PARLEY_RATE_LIMIT_KEY_PER_SECOND: '1000000',
  PARLEY_RATE_LIMIT_KEY_BURST: '1000000',
  PARLEY_RATE_LIMIT_ORGANIZATION_PER_SECOND: '1000000',
  PARLEY_RATE_LIMIT_ORGANIZATION_BURST: '1000000',
};

type RoleName = 'operator' | 'api';

/** Runs roles with their bundle, database and permissions. */
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
    const database = await createDatabase(server);
    return new RoleHost({ databaseUrl: database.url, kubeconfigs: stack.roles, drop: () => database.drop() });
  }

  /** Makes the namespace known as an organisation. */
  async addOrganization(namespace: string): Promise<void> {
    await this.#store.organizations.create({ name: namespace });
  }

  /** Creates that many keys: the facade limits each key's rate, and clients are many. */
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

  /** Starts a role with its production defaults, but for the number of requests that it allows, and waits until it is ready. */
  start(role: RoleName): Promise<BenchRole> {
    return startRole({ role, env: { KUBECONFIG: this.#kubeconfigs[role], DATABASE_URL: this.#databaseUrl, ...unhindered } });
  }

  async close(): Promise<void> {
    await this.#store.close();
    await this.#drop();
  }
}
