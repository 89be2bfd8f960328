/** (e) Lists of tools over REST: many agents with many tools each, at rest and while tools come and go. */
import { Pool } from 'undici';

import { forEachOf, load } from '../harness/rounds.ts';
import { percentile, summarize } from '../harness/stats.ts';
import { duration, figure, type Table } from '../harness/table.ts';
import type { ControlPlanePart } from './part.ts';
import { RoleHost, type BenchRole } from './roles.ts';

const writesInFlight = 16;
const readsInFlight = [1, 16] as const;
/** Keys: clients are many. */
const clients = 16;

interface Latencies {
  readonly what: string;
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/** Walks over the tools of one agent after the other, page by page. */
export interface Walks {
  readonly what: string;
  readonly walks: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly pages: number;
  /** Tools that were there during a whole walk and were not seen by it; and tools that one saw twice. Both must be 0. */
  readonly missing: number;
  readonly doubles: number;
  /** Creations and deletions by others while the walks went on. */
  readonly changes: number;
}

export interface ToolListsResult {
  readonly agents: number;
  readonly toolsPerAgent: number;
  readonly requests: readonly Latencies[];
  readonly walks: readonly Walks[];
}

export const toolLists: ControlPlanePart<ToolListsResult> = {
  title: '(e) lists of tools over REST',

  async run(context) {
    const { cluster, scale, progress } = context;
    const { toolAgents, toolsPerAgent } = scale;
    const host = await RoleHost.open(context);
    const namespace = await cluster.createNamespace('tools');
    let api: BenchRole | undefined;
    let rest: Rest | undefined;
    try {
      await host.addOrganization(namespace);
      api = await host.start('api');
      rest = new Rest(api.url, await host.createApiKeys(namespace, clients));
      const client = rest;
      const requests: Latencies[] = [];

      progress(`(e) ${toolAgents} agents with ${toolsPerAgent} tools each`);
      const agents = await Promise.all(Array.from({ length: toolAgents }, (_, index) => client.createAgent(index)));
      const made = new Map<string, string[]>(agents.map((agent) => [agent, []]));
      // Round by round, as different people would: no agent's tools all at once.
      const wanted = Array.from({ length: toolsPerAgent }, (_, tool) => agents.map((agent) => ({ agent, tool }))).flat();
      const createdAt = performance.now();
      const creations: number[] = [];
      await forEachOf(wanted, writesInFlight, async ({ agent, tool }) => {
        const sentAt = performance.now();
        made.get(agent)?.push(await client.createTool(agent, `tool_${tool}`));
        creations.push(performance.now() - sentAt);
      });
      requests.push(latenciesOf(`POST of a tool, ${writesInFlight} in flight`, creations, performance.now() - createdAt));

      const measured = async (what: string, inFlight: number, request: (index: number) => Promise<void>): Promise<Latencies> => {
        await load({ inFlight, durationMs: scale.turnMs / 5, request });
        const { latenciesMs, elapsedMs } = await load({ inFlight, durationMs: scale.turnMs, request });
        return latenciesOf(what, latenciesMs, elapsedMs);
      };
      for (const inFlight of readsInFlight) {
        for (const size of [20, 100]) {
          progress(`(e) lists of one agent's tools, page_size=${size}, ${inFlight} in flight`);
          requests.push(
            await measured(
              `GET of an agent's tools, page_size=${size}, ${inFlight} in flight`,
              inFlight,
              async (index) => void (await client.list(agents[index % agents.length] ?? '', `page_size=${size}`)),
            ),
          );
        }
        progress(`(e) lists of agents, ${inFlight} in flight`);
        requests.push(
          await measured(`GET of agents with their tools, page_size=20, ${inFlight} in flight`, inFlight, () => client.listAgents()),
        );
      }

      progress('(e) walks at rest');
      const walks = { client, made, durationMs: scale.turnMs };
      const atRest = await walkAll({ ...walks, what: 'at rest', changes: () => 0 });
      progress('(e) walks while tools come and go');
      const stop = new AbortController();
      let changes = 0;
      const churn = Promise.all(
        Array.from({ length: 4 }, async (_, lane) => {
          for (let turn = 0; !stop.signal.aborted; turn += 1) {
            const agent = agents[(lane + turn * 4) % agents.length] ?? '';
            await client.deleteTool(agent, await client.createTool(agent, `passing_${lane}`));
            changes += 2;
          }
        }),
      );
      const underChange = await walkAll({ ...walks, what: 'while tools come and go', changes: () => changes }).finally(() => stop.abort());
      await churn;

      progress('(e) clearing away');
      await forEachOf(agents, 4, (agent) => client.deleteAgent(agent));
      return { agents: toolAgents, toolsPerAgent, requests, walks: [atRest, underChange] };
    } finally {
      await rest?.close();
      await api?.stop();
      await cluster.releaseNamespace(namespace);
      await host.close();
    }
  },

  tables: (result) => [requestsTable(result), walksTable(result)],
};

class Rest {
  readonly #pool: Pool;
  readonly #keys: readonly string[];
  #sent = 0;

  constructor(url: string, keys: readonly string[]) {
    this.#pool = new Pool(url, { connections: 16 });
    this.#keys = keys;
  }

  async createAgent(index: number): Promise<string> {
    const body = {
      agent_name: `Agent ${index}`,
      llm: { model_name: 'gpt-4o-mini' },
      stt: { provider: 'deepgram' },
      tts: { provider: 'cartesia' },
    };
    return (await this.#send('POST', '/v2/ai-agents', body))['ai_agent_id'] as string;
  }

  async createTool(agent: string, name: string): Promise<string> {
    const body = {
      function_tool: {
        name,
        description: 'Looks up what the caller asks for, by the number that they say.',
        parameters: {
          type: 'object',
          properties: { number: { type: 'string', description: 'As the caller says it.' } },
          required: ['number'],
          additionalProperties: false,
        },
      },
      additional_tool_info: {
        tool_type: 'custom',
        api: { endpoint: 'https://api.example.com/orders/{number}', headers: { Accept: 'application/json' } },
      },
      tool_start_message: 'One moment, I am looking it up.',
    };
    return (await this.#send('POST', `/v2/ai-agents/${agent}/custom-tools`, body))['tool_id'] as string;
  }

  async deleteTool(agent: string, tool: string): Promise<void> {
    await this.#send('DELETE', `/v2/ai-agents/${agent}/custom-tools/${tool}`);
  }

  async deleteAgent(agent: string): Promise<void> {
    await this.#send('DELETE', `/v2/ai-agents/${agent}`);
  }

  async list(agent: string, query: string): Promise<{ readonly ids: readonly string[]; readonly next: string | null }> {
    const { data, next_page_token: next } = await this.#send('GET', `/v2/ai-agents/${agent}/custom-tools?${query}`);
    return { ids: (data as { readonly tool_id: string }[]).map(({ tool_id: id }) => id), next: next as string | null };
  }

  async listAgents(): Promise<void> {
    await this.#send('GET', '/v2/ai-agents?page_size=20');
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #send(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
    const key = this.#keys[(this.#sent += 1) % this.#keys.length] ?? '';
    const answer = await this.#pool.request({
      method,
      path,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text.slice(0, 500)}`);
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  }
}

interface WalkOptions {
  readonly client: Rest;
  /** The tools of each agent that stay. */
  readonly made: ReadonlyMap<string, readonly string[]>;
  readonly durationMs: number;
  readonly what: string;
  readonly changes: () => number;
}

/** One walk after the other over the tools of the agents in turn, ten to a page; each agent's at least once. */
async function walkAll({ client, made, durationMs, what, changes }: WalkOptions): Promise<Walks> {
  const before = changes();
  const begun = performance.now();
  const took: number[] = [];
  let [pages, missing, doubles] = [0, 0, 0];
  do {
    for (const [agent, tools] of made) {
      const startedAt = performance.now();
      const seen: string[] = [];
      let token: string | null = null;
      do {
        const page: Awaited<ReturnType<Rest['list']>> = await client.list(
          agent,
          `page_size=10${token === null ? '' : `&page_token=${token}`}`,
        );
        seen.push(...page.ids);
        pages += 1;
        token = page.next;
      } while (token !== null);
      took.push(performance.now() - startedAt);
      const distinct = new Set(seen);
      doubles += seen.length - distinct.size;
      missing += tools.filter((tool) => !distinct.has(tool)).length;
    }
  } while (performance.now() - begun < durationMs);
  const { p50 } = summarize(took);
  return { what, walks: took.length, p50Ms: p50, p95Ms: percentile(took, 95), pages, missing, doubles, changes: changes() - before };
}

function latenciesOf(what: string, latenciesMs: readonly number[], elapsedMs: number): Latencies {
  const { count, p50, p99 } = summarize(latenciesMs);
  return { what, requests: count, perSecond: (count * 1000) / elapsedMs, p50Ms: p50, p95Ms: percentile(latenciesMs, 95), p99Ms: p99 };
}

function requestsTable({ agents, toolsPerAgent, requests }: ToolListsResult): Table {
  return {
    title: toolLists.title,
    columns: [`${figure(agents * toolsPerAgent)} tools on ${agents} agents`, 'requests', 'requests/s', 'p50', 'p95', 'p99'],
    rows: requests.map((each) => [
      each.what,
      figure(each.requests),
      figure(each.perSecond),
      figure(each.p50Ms, 'ms'),
      figure(each.p95Ms, 'ms'),
      figure(each.p99Ms, 'ms'),
    ]),
    notes: [
      `Always the first page: of the ${toolsPerAgent} tools of one agent, or of the agents with all of their tools in \`llm.tools\`.`,
    ],
  };
}

function walksTable({ walks }: ToolListsResult): Table {
  return {
    title: '(e) walks through all tools of an agent, ten to a page',
    columns: ['one walk after the other', 'walks', 'pages', 'p50', 'p95', 'changes by others', 'missing', 'doubles'],
    rows: walks.map((each) => [
      each.what,
      figure(each.walks),
      figure(each.pages),
      duration(each.p50Ms),
      duration(each.p95Ms),
      figure(each.changes),
      figure(each.missing),
      figure(each.doubles),
    ]),
    notes: ['*missing*: tools that were there during a whole walk and did not show in it; *doubles*: tools that showed twice.'],
  };
}
