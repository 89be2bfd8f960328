import type { FastifyInstance } from 'fastify';

import { usageShown } from '../../events/call-usage.ts';
import { isTimeZone } from '../../platform/local-time.ts';
import { DAY_MS } from '../../platform/time.ts';
import type { UsageGroup, UsageGrouping } from '../../store/index.ts';
import { agentNamesIn } from '../calls/schema.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { ValidationError } from '../http/api-error.ts';
import { addRoute } from '../http/route.ts';
import { EARLIEST_INSTANT, instantOf } from '../validation/instant.ts';
import { issues } from '../validation/issue.ts';
import { getUsage, MOST_GROUPS, type UsageAnswer, type UsageQuery } from './descriptions.ts';

const DEFAULT_DAYS = 30;
const MOST_DAYS = 366;

export function registerUsage(app: FastifyInstance, { store, clock }: Pick<ApiDependencies, 'store' | 'clock'>): void {
  addRoute(app, getUsage, async ({ query, caller: { org }, timed }) => {
    const groups = await timed('db', () =>
      store.calls.usage.sums({
        org,
        ...rangeOf(query, clock.now()),
        groupBy: query.group_by,
        agentNames: agentNamesIn(query.ai_agent_ids),
        timeZone: query.time_zone,
        limit: MOST_GROUPS + 1,
      }),
    );
    return {
      data: groups.slice(0, MOST_GROUPS).map((group) => groupShown(group, query.group_by)),
      complete: groups.length <= MOST_GROUPS,
    };
  });
}

/** @throws ValidationError for an unknown time zone, and for a range that is empty or too long */
function rangeOf({ from, to, time_zone: timeZone }: UsageQuery, now: number): { readonly from: Date; readonly to: Date } {
  if (!isTimeZone(timeZone))
    throw new ValidationError([issues.value(['query', 'time_zone'], 'use the IANA name of a time zone, such as Europe/Berlin')]);
  const end = instantIn(to) ?? now;
  const begin = instantIn(from) ?? Math.max(EARLIEST_INSTANT, end - DEFAULT_DAYS * DAY_MS);
  if (begin >= end) throw new ValidationError([issues.value(['query', 'from'], 'must be before `to`')]);
  if (end - begin > MOST_DAYS * DAY_MS)
    throw new ValidationError([issues.value(['query', 'from'], `must be ${MOST_DAYS} days before \`to\` at most`)]);
  return { from: new Date(begin), to: new Date(end) };
}

const instantIn = (text: string | undefined): number | undefined => (text === undefined ? undefined : instantOf(text)?.getTime());

function groupShown({ key: [first = ''], calls, lines }: UsageGroup, by: UsageGrouping): UsageAnswer['data'][number] {
  return {
    ...(by === 'agent' && { ai_agent_id: first }),
    ...(by === 'day' && { day: first }),
    calls,
    usage: usageShown(lines),
  };
}
