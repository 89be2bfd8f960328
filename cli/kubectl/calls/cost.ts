/** Reads what calls cost, as REST has it: of each, and sums by agent and day. */
import { dateIn } from '../../../platform/local-time.ts';
import { table } from '../../table.ts';
import type { Api } from './api.ts';
import type { ListedCall, ShownCost } from './read.ts';

interface Usage {
  readonly cost: ShownCost | null;
  readonly unpriced: readonly { readonly kind: string; readonly provider: string; readonly model?: string }[];
}

interface Sum {
  readonly ai_agent_id?: string;
  readonly day?: string;
  readonly calls: number;
  readonly usage: Usage & { readonly items: readonly unknown[] };
}

export interface CostSums {
  readonly by_agent: readonly Sum[];
  readonly by_day: readonly Sum[];
}

/** Returns the costs of the last 30 days, in the time zone of this machine. */
export async function readCosts(api: Api, { agent }: { readonly agent?: string | undefined }): Promise<CostSums> {
  const ask = async (groupBy: string): Promise<readonly Sum[]> => {
    const query = new URLSearchParams({ group_by: groupBy, time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone });
    if (agent !== undefined) query.set('ai_agent_ids', agent);
    const { data } = (await api.request('GET', `/v1/usage?${query.toString()}`)) as { readonly data: readonly Sum[] };
    return data;
  };
  const [byAgent, byDay] = await Promise.all([ask('agent'), ask('day')]);
  return { by_agent: byAgent, by_day: byDay };
}

export function costTable(calls: readonly ListedCall[]): string {
  const rows = calls.map(({ _id: id, ai_agent_id: asked, override_ai_agent_id: talked, created_at: made, cost }) => [
    id,
    talked ?? asked,
    dateIn(Date.parse(made), Intl.DateTimeFormat().resolvedOptions().timeZone),
    costText(cost ?? null),
  ]);
  return table(['ID', 'AGENT', 'DAY', 'COST'], rows);
}

export function sumTables({ by_agent: byAgent, by_day: byDay }: CostSums): string {
  const rowsOf = (sums: readonly Sum[], name: 'ai_agent_id' | 'day') =>
    sums.map((sum) => [sum[name] ?? '', String(sum.calls), costText(sum.usage.cost), unpricedText(sum.usage)]);
  return `${table(['AGENT', 'CALLS', 'COST', 'WITHOUT A PRICE'], rowsOf(byAgent, 'ai_agent_id'))}\n${table(['DAY', 'CALLS', 'COST', 'WITHOUT A PRICE'], rowsOf(byDay, 'day'))}`;
}

/** Returns a dash where something has no price, or nothing was used: never zero. */
export const costText = (cost: ShownCost | null): string => (cost === null ? '-' : `${cost.amount} ${cost.currency}`);

const unpricedText = ({ unpriced }: Usage): string =>
  unpriced.map(({ kind, provider, model }) => [kind, provider, ...(model === undefined ? [] : [model])].join(' ')).join(', ');
