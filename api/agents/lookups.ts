/** Lists every field of a lookup in REST's `dynamic_data_config`. REST items have no name; resources need one to distinguish them. */
import { z } from 'zod';

import { originOf } from '../../crds/address.ts';
import { agentKind, type AgentSpec } from '../../crds/index.ts';
import { LONGEST_QUERY_VALUE, plainValue } from '../../crds/limits.ts';
import { headers, items, milliseconds } from '../codec/conversions.ts';
import { matchStored, readFields, type Conversion, type Shape } from '../codec/fields.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import { looksSecret } from '../codec/headers.ts';
import type { Draft } from '../codec/draft.ts';
import { mapLike, schemaAt } from '../codec/rest-schema.ts';
import { masked } from '../codec/secrets.ts';
import { MASK } from '../http/caller.ts';
import { issues } from '../validation/issue.ts';
import { inAnyCase } from '../validation/normalize.ts';
import { sameJson } from '../../platform/json.ts';
import { withRule } from '../validation/validate.ts';

type AgentLookup = NonNullable<AgentSpec['dynamicData']>[number];

const QUERY_VALUE = `a text of at most ${LONGEST_QUERY_VALUE} characters, a number or a boolean`;

/** A union would report a failure of each of its alternatives, so this isn't one. */
const queryValue = withRule(
  z.unknown().meta({ anyOf: [{ type: 'string', maxLength: LONGEST_QUERY_VALUE }, { type: 'number' }, { type: 'boolean' }] }),
  (value, loc) => (plainValue('', value, '').length === 0 ? [] : [issues.value(loc, `must be ${QUERY_VALUE}`)]),
);

/** REST only says whether an answer is kept. */
const cached: Conversion<string, boolean> = {
  body: () => z.boolean(),
  answer: () => z.boolean(),
  read: () => true,
  write: (sent, { stored }) => (sent ? (stored ?? '5m') : undefined),
};

const lookup = fieldsOf(schemaAt(agentKind.spec, 'dynamicData.*'));
const found = fieldsOf(schemaAt(agentKind.spec, 'dynamicData.*.response.*'));

const lookupFields = {
  url: lookup.field('url'),
  method: lookup.field('method', { id: 'LookupMethod', body: inAnyCase, empty: 'GET' }),
  timeout: lookup.field('timeout', { as: milliseconds, text: 'Longest wait for the answer; 5000 where absent.', empty: 5000 }),
  headers: lookup.field('headers', {
    as: headers(({ name }) => `dynamic-data.${name}`),
    empty: {},
    sentTo: ({ url = '' }) => ({ url: originOf(url) }),
  }),
  body: lookup.field('body', { id: 'LookupBodyCreate', empty: {} }),
  query: lookup.field('query', {
    id: 'LookupQueryCreate',
    body: (query) => mapLike(query, queryValue),
    answer: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    empty: {},
  }),
  cache: lookup.field('cache', {
    as: cached,
    text: 'Reuse the answer to the same request within the organisation for 300 s, or as long as the resource says.',
    empty: false,
  }),
  response_data: lookup.field('response', {
    as: items({ name: found.field('name'), data: found.field('path'), context: found.field('context') }, { name: 'DynamicDataValue' }),
    empty: [],
  }),
};

export const lookups = fieldsOf(agentKind.spec).field('dynamicData', {
  as: items(lookupFields, { name: 'DynamicDataLookup', match: continued }),
  empty: [],
});

type LookupBody = z.output<z.ZodObject<Shape<typeof lookupFields, 'create'>>>;

/** Finds for each item the stored lookup that it continues, or the name of a new one. */
function continued(sent: readonly LookupBody[], stored: readonly AgentLookup[]): readonly Draft<AgentLookup>[] {
  const taken = new Set(stored.map(({ name }) => name));
  return matchStored(sent, stored, CONTINUES).map((match) => {
    const name = match?.name ?? freeName(taken);
    taken.add(name);
    return match ?? { name };
  });
}

/** An item continues an equal lookup, else one of the same address, else one of the same origin, else the next that is left. */
const CONTINUES: readonly ((item: LookupBody, stored: AgentLookup) => boolean)[] = [
  (item, stored) => sameJson(comparable(item), readFields(lookupFields, { spec: stored }, { secrets: masked })),
  (item, stored) => item.url === stored.url && (item.method ?? 'GET') === (stored.method ?? 'GET'),
  (item, stored) => originOf(item.url) === originOf(stored.url),
  () => true,
];

/** Returns a request item with its defaults filled in and the values of secrets left out. */
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
