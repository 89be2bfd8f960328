/** Remembers which routes this process has written, so that each is written once. */
import type { PhoneRoute, Store } from '../../store/index.ts';
import type { PostgresOutage, Unavailable } from '../runtime/postgres-outage.ts';
import type { RouteView } from './view.ts';

export interface PhoneRouteCacheOptions {
  readonly store: Pick<Store, 'phoneRoutes'>;
  readonly outage: PostgresOutage;
}

export class PhoneRouteCache {
  readonly #options: PhoneRouteCacheOptions;
  readonly #written = new Map<string, PhoneRoute>();

  constructor(options: PhoneRouteCacheOptions) {
    this.#options = options;
  }

  view(uid: string): RouteView {
    const { why } = this.#options.outage;
    if (why !== undefined) return { state: 'unavailable', why };
    const written = this.#written.get(uid);
    return { state: 'known', ...(written && { written }) };
  }

  /** @throws StoreError `conflict` while another organisation's object still has the number */
  async write(route: PhoneRoute): Promise<{ readonly state: 'known' } | Unavailable> {
    return this.#options.outage.guard(async () => {
      await this.#options.store.phoneRoutes.put(route);
      this.#written.set(route.uid, route);
      return { state: 'known' } as const;
    });
  }

  async remove(route: Pick<PhoneRoute, 'org' | 'uid'>): Promise<{ readonly state: 'known' } | Unavailable> {
    this.#written.delete(route.uid);
    return this.#options.outage.guard(async () => {
      await this.#options.store.phoneRoutes.remove(route);
      return { state: 'known' } as const;
    });
  }

  /** Forgets everything, because another process may have written. */
  clear(): void {
    this.#written.clear();
  }
}
