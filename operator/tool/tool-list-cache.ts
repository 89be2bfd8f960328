import { isDeepStrictEqual } from 'node:util';

import type { Tool } from '../../crds/index.ts';
import type { ServerTool } from '../../crds/mcp-tools.ts';
import type { Stored } from '../../kube/index.ts';
import type { Store, ToolListRecord } from '../../store/index.ts';
import type { PostgresOutage, Unavailable } from '../runtime/postgres-outage.ts';
import type { ServerToolsRequest } from './mcp-plan.ts';
import { NO_TOOL_LIST, type ToolListView } from '../references/tool-list-view.ts';

type Known = Extract<ToolListView, { readonly state: 'known' }>;
type Identified = Pick<Tool, 'metadata'>;

interface Entry {
  readonly known: Known;
  /** The list has changed in Postgres since it was read, as far as is known. */
  stale: boolean;
}

interface Reading {
  readonly done: Promise<typeof DONE | Unavailable>;
  /** Something has changed since the read began. */
  stale: boolean;
}

const DONE = { state: 'known' } as const;

/**
 * Caches the lists of tools that Postgres holds, and writes through. Plans read what is cached; whoever plans has it read before. A list that has
 * changed is read again before it is replaced, so that no plan finds nothing where there was something.
 */
export class ToolListCache {
  readonly #lists: Store['toolLists'];
  readonly #outage: PostgresOutage;
  readonly #entries = new Map<string, Entry>();
  readonly #reading = new Map<string, Reading>();

  constructor({ lists, outage }: { readonly lists: Store['toolLists']; readonly outage: PostgresOutage }) {
    this.#lists = lists;
    this.#outage = outage;
  }

  /**
   * Reads what isn't known, or not any more: afterwards, {@link view} knows at least what Postgres had at the time of the call.
   *
   * @returns why Postgres could not be asked for all of them; undefined where it could
   */
  async read(tools: readonly Identified[]): Promise<Unavailable | undefined> {
    for (const tool of tools) {
      const uid = uidOf(tool);
      for (;;) {
        let reading = this.#reading.get(uid);
        if (reading === undefined && this.#entries.get(uid)?.stale === false) break;
        // A read that began before the last change may miss it.
        if (reading === undefined || reading.stale) reading = this.#begin(tool, uid);
        const read = await reading.done;
        if (read.state === 'unavailable') return read;
        // Another caller may have begun to read again meanwhile, and what was read is dropped.
      }
    }
    return undefined;
  }

  #begin(tool: Identified, uid: string): Reading {
    const reading: Reading = {
      stale: false,
      done: this.#outage
        .guard(async () => {
          const found = await this.#lists.get<ServerTool>({ org: tool.metadata.namespace ?? '', toolUid: uid });
          if (this.#reading.get(uid) === reading) this.#entries.set(uid, { known: viewOf(found), stale: reading.stale });
          return DONE;
        })
        .finally(() => {
          if (this.#reading.get(uid) === reading) this.#reading.delete(uid);
        }),
    };
    this.#reading.set(uid, reading);
    return reading;
  }

  /** Returns what is known without asking Postgres. */
  view(tool: Identified): ToolListView {
    const { why } = this.#outage;
    const known = this.#entries.get(uidOf(tool))?.known;
    if (known === undefined && why !== undefined) return { state: 'unavailable', why };
    return known ?? NO_TOOL_LIST;
  }

  async request(
    tool: Stored<Tool>,
    request: { readonly request: ServerToolsRequest; readonly digest: string; readonly acceptNext: boolean },
  ) {
    const { name } = tool.metadata;
    const { digest, acceptNext, request: how } = request;
    return this.#change(tool, () =>
      this.#lists.request(refOf(tool), { toolName: name, request: how, requestDigest: digest }, { acceptNext }),
    );
  }

  async accept(tool: Stored<Tool>, tools: readonly ServerTool[]) {
    return this.#change(tool, () => this.#lists.accept(refOf(tool), tools));
  }

  /** Removes the list of a Tool that is gone. A list that stays behind is found by {@link prune}. */
  remove(tool: Stored<Tool>): void {
    this.#entries.delete(tool.metadata.uid);
    void this.#outage.guard(() => this.#lists.remove(refOf(tool)).then(() => DONE)).catch(() => undefined);
  }

  /** Removes the lists of tools that are gone. @param uidsNow the tools that exist; called after Postgres, since more may come meanwhile */
  async prune(uidsNow: () => ReadonlySet<string>): Promise<void> {
    await this.#outage.guard(async () => {
      const kept = await this.#lists.all();
      const uids = uidsNow();
      for (const ref of kept) if (!uids.has(ref.toolUid)) await this.#lists.remove(ref);
      return DONE;
    });
  }

  /** Call it when something has changed in Postgres. */
  stale(tool: Identified): void {
    for (const known of [this.#entries, this.#reading]) {
      const entry = known.get(uidOf(tool));
      if (entry !== undefined) entry.stale = true;
    }
  }

  allStale(): void {
    for (const known of [this.#entries, this.#reading]) for (const entry of known.values()) entry.stale = true;
  }

  listen: Store['toolLists']['listen'] = (changes) => this.#lists.listen(changes);

  async #change(tool: Stored<Tool>, change: () => Promise<void>): Promise<typeof DONE | Unavailable> {
    try {
      return await this.#outage.guard(async () => {
        await change();
        return DONE;
      });
    } finally {
      this.stale(tool);
    }
  }
}

const uidOf = ({ metadata }: Identified): string => metadata.uid ?? '';
const refOf = ({ metadata }: Stored<Tool>) => ({ org: metadata.namespace ?? '', toolUid: metadata.uid });

function viewOf(record: ToolListRecord<ServerTool> | undefined): Known {
  if (record === undefined) return NO_TOOL_LIST as Known;
  const { url, requestDigest, latest, latestAt, accepted, failure } = record;
  return {
    state: 'known',
    request: { url, digest: requestDigest },
    ...(latest !== null && latestAt !== null && { latest: { tools: latest, at: latestAt } }),
    // Equal lists are one object: then there is nothing to accept.
    ...(accepted !== null && { accepted: latest !== null && isDeepStrictEqual(accepted, latest) ? latest : accepted }),
    ...(failure !== null && { failure }),
  };
}
