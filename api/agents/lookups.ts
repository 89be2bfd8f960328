/** `dynamic_data_config` in REST: every field of a lookup. REST items have no name; resources need one to distinguish them. */
import { z } from 'zod';

import { originOf } from '../../crds/address.ts';
import { lookupMethods } from '../../crds/http-method.ts';
import type { AgentSpec } from '../../crds/index.ts';
import { LONGEST_QUERY_VALUE, plainValue } from '../../crds/limits.ts';
import { headers, milliseconds } from '../codec/conversions.ts';
import { answerShape, createShape, field, items, matchStored, readFields } from '../codec/fields.ts';
import { looksSecret } from '../codec/headers.ts';
import { distinct, headerMap, named, text } from '../codec/schemas.ts';
import { masked } from '../codec/secrets.ts';
import { MASK } from '../http/caller.ts';
import { issues } from '../validation/issue.ts';
import { inAnyCase } from '../validation/normalize.ts';
import { sameJson } from '../../platform/json.ts';
import { withRule } from '../validation/validate.ts';

type AgentLookup = NonNullable<AgentSpec['dynamicData']>[number];

const MOST_MILLISECONDS = 30_000;

const timeout = withRule(
  z.int().describe(`Milliseconds, from 1 to ${MOST_MILLISECONDS}; 5000 where absent.`).meta({ minimum: 1, maximum: MOST_MILLISECONDS }),
  (value, loc) =>
    value >= 1 && value <= MOST_MILLISECONDS ? [] : [issues.value(loc, `timeout is in milliseconds, from 1 to ${MOST_MILLISECONDS}`)],
);

const QUERY_VALUE = `a text of at most ${LONGEST_QUERY_VALUE} characters, a number or a boolean`;

/** Not a union, which would report a failure of each of its alternatives. */
const queryValue = withRule(
  z.unknown().meta({ anyOf: [{ type: 'string', maxLength: LONGEST_QUERY_VALUE }, { type: 'number' }, { type: 'boolean' }] }),
  (value, loc) => (plainValue('', value, '').length === 0 ? [] : [issues.value(loc, `must be ${QUERY_VALUE}`)]),
);

const responseFields = {
  name: field({ path: 'name', create: named(128), answer: z.string() }),
  data: field({ path: 'path', create: named(512), answer: z.string() }),
  context: field({ path: 'context', create: text(1500).nullish(), answer: z.string().optional() }),
};

const lookupFields = {
  url: field({ path: 'url', create: text(2048).regex(/^https?:\/\//), answer: z.string() }),
  method: field({
    path: 'method',
    create: inAnyCase(z.enum(lookupMethods).meta({ id: 'LookupMethod' })).nullish(),
    answer: z.string(),
    empty: 'GET',
  }),
  timeout: field({
    path: 'timeout',
    as: milliseconds,
    create: timeout.nullish(),
    answer: z.int().describe('Milliseconds.'),
    empty: 5000,
  }),
  headers: field({
    path: 'headers',
    as: headers((lookup) => `dynamic-data.${(lookup as AgentLookup).name}`),
    create: headerMap.nullish(),
    answer: z.record(z.string(), z.string()),
    empty: {},
    sentTo: ({ url }: AgentLookup) => ({ url: originOf(url) }),
  }),
  body: field({
    path: 'body',
    create: z.record(z.string(), z.unknown()).meta({ id: 'LookupBodyCreate', maxProperties: 64 }).nullish(),
    answer: z.record(z.string(), z.unknown()),
    empty: {},
  }),
  query: field({
    path: 'query',
    // Longest key as in the resources.
    create: z.record(text(128), queryValue).meta({ id: 'LookupQueryCreate', maxProperties: 32 }).nullish(),
    answer: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    empty: {},
  }),
  cache: field({ path: 'cache', create: z.boolean().nullish(), answer: z.boolean(), empty: false }),
  response_data: field({
    path: 'response',
    as: { ...items(responseFields), below: { '.*': '.*', '.*.path': '.*.data' } },
    create: withRule(
      z.array(z.object(createShape(responseFields)).meta({ id: 'DynamicDataValueCreate' })).max(32),
      distinct('names', (item) => item.name),
    ).nullish(),
    answer: z.array(z.object(answerShape(responseFields)).meta({ id: 'DynamicDataValue' })),
    empty: [],
  }),
};

const lookupBody = z.object(createShape(lookupFields)).meta({ id: 'DynamicDataLookupCreate' });

type LookupBody = z.output<typeof lookupBody>;

export const lookups = field({
  path: 'dynamicData',
  as: items(lookupFields, continued),
  create: z.array(lookupBody).max(10).nullish(),
  answer: z.array(z.object(answerShape(lookupFields)).meta({ id: 'DynamicDataLookup' })),
  empty: [],
});

/** For each item the stored one that it continues, or the name of a new one. */
function continued(sent: readonly object[], stored: readonly object[]): readonly object[] {
  const previous = stored as readonly AgentLookup[];
  const taken = new Set(previous.map(({ name }) => name));
  return matchStored(sent as readonly LookupBody[], previous, CONTINUES).map((match) => {
    const name = match?.name ?? freeName(taken);
    taken.add(name);
    return match ?? { name };
  });
}

/** An equal one, else one of the same address, of the same origin, or the next that is left. */
const CONTINUES: readonly ((item: LookupBody, stored: AgentLookup) => boolean)[] = [
  (item, stored) => sameJson(comparable(item), readFields(lookupFields, { spec: stored }, { secrets: masked })),
  (item, stored) => item.url === stored.url && (item.method ?? 'GET') === (stored.method ?? 'GET'),
  (item, stored) => originOf(item.url) === originOf(stored.url),
  () => true,
];

/** What a request item says, with defaults filled in and the values of secrets left out. */
function comparable(item: LookupBody): object {
  const given = Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null && value !== undefined));
  const shown = Object.entries(item.headers ?? {}).map(([name, value]) => [name, looksSecret(name) ? MASK : value]);
  const response = (item.response_data ?? []).map(({ name, data, context }) => ({ name, data, context: context ?? undefined }));
  return {
    ...readFields(lookupFields, { spec: {} }, { secrets: masked }),
    ...given,
    headers: Object.fromEntries(shown) as object,
    response_data: response,
  };
}

function freeName(taken: ReadonlySet<string>): string {
  for (let n = 1; ; n += 1) if (!taken.has(`lookup-${n}`)) return `lookup-${n}`;
}
