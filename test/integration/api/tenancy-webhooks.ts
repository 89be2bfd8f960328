/** Requests the routes of webhooks, for the model of two organisations. */
import { agentId, anId, aName, atMost, pick, same, type Generator, type Situation } from './tenancy-model.ts';

const root = '/v1/public/webhook';
const one = `${root}/subscription`;
const of = `${one}/:subscription_id`;

const subscriptionId = (situation: Situation): string =>
  anId(situation, [...situation.own.subscriptions.keys()], [...situation.foreign.subscriptions.keys()]);
/** No relay runs for the events of this model, so that there are no deliveries. */
const deliveryId = (situation: Situation): string => anId(situation, [...situation.own.tests], [...situation.foreign.tests]);

const changing =
  (method: 'PUT' | 'PATCH'): Generator =>
  (situation) => {
    const { own, random } = situation;
    const id = subscriptionId(situation);
    const known = own.subscriptions.get(id);
    const name = aName(situation);
    const kind = pick(random, ['changed', 'switched', 'broken', 'dryRun', 'outdated'] as const) ?? 'changed';
    const active = random() < 0.5;
    const sound = kind === 'outdated' ? 412 : 200;
    return {
      request: {
        path: `${one}/${id}`,
        body: { name: kind === 'broken' ? null : name, ...(kind === 'switched' && { active }), ...(method === 'PUT' && { events: ['*'] }) },
        ...(kind === 'dryRun' && { query: 'dry_run=true' }),
        ...(kind === 'outdated' && { headers: { 'if-match': '"1"' } }),
      },
      expected: {
        status: kind === 'broken' ? 400 : known === undefined ? 404 : sound,
        learn: ({ body }) => {
          same([body.name, body.signing_enabled], [name, known?.signed], `the subscription ${id}`);
          if (known !== undefined && kind !== 'dryRun')
            own.subscriptions.set(id, { ...known, name, ...(kind === 'switched' && { active }) });
        },
      },
    };
  };

/** Requests a route below a subscription; `status` is the answer for one that is there. */
const below =
  (suffix: string, method: string, status: (known: { readonly signed: boolean; readonly active: boolean }) => number): Generator =>
  (situation) => {
    const id = subscriptionId(situation);
    const known = situation.own.subscriptions.get(id);
    return {
      request: { path: `${one}/${id}/${suffix}`, ...(method === 'POST' && { body: {} }) },
      expected: {
        status: known === undefined ? 404 : status(known),
        learn: ({ body }) => {
          if (suffix === 'test') situation.own.tests.push(body.delivery_id as string);
          if (suffix === 'deliveries') same(body.data, [], `the deliveries of ${id}`);
        },
      },
    };
  };

const delivery =
  (suffix: string, ofSubscription: boolean): Generator =>
  (situation) => ({
    request: { path: `${one}/${ofSubscription ? `${subscriptionId(situation)}/` : ''}deliveries/${deliveryId(situation)}${suffix}` },
    expected: { status: 404 },
  });

export const webhookGenerators: Readonly<Record<string, Generator>> = {
  [`POST ${one}`]: (situation) => {
    const { own, random } = situation;
    const name = aName(situation);
    const kind =
      own.subscriptions.size >= atMost ? 'broken' : (pick(random, ['made', 'made', 'broken', 'taken', 'dryRun'] as const) ?? 'made');
    const taken = pick(random, [...own.subscriptions.values()])?.name;
    const sent = kind === 'taken' ? (taken ?? name) : name;
    const signed = random() < 0.5;
    return {
      request: {
        path: one,
        body: { name: sent, url: 'https://example.com', ...(kind !== 'broken' && { enable_signed_webhooks: signed }) },
        ...(kind === 'dryRun' && { query: 'dry_run=true' }),
      },
      expected: {
        status: kind === 'broken' ? 400 : kind === 'taken' && taken !== undefined ? 409 : 201,
        learn: ({ body }) => {
          same(body.secret !== undefined, signed && kind !== 'dryRun', 'whether there is a secret');
          if (kind !== 'dryRun') own.subscriptions.set(body.id as string, { name: sent, signed, active: true });
        },
      },
    };
  },
  [`GET ${root}/subscriptions`]: ({ own, random }) => {
    const size = pick(random, ['?', 'page_size=101', 'page_size=100', 'page_size=100']) ?? '?';
    return {
      request: { path: `${root}/subscriptions`, ...(size !== '?' && { query: size }) },
      expected: {
        status: size === 'page_size=100' ? 200 : 400,
        learn: ({ body }) => {
          const shown = (body.data as { id: string; active: boolean }[]).map(({ id, active }) => `${id} ${active}`);
          const known = [...own.subscriptions].map(([id, { active }]) => `${id} ${active}`);
          same([shown.toSorted(), body.total_count], [known.toSorted(), known.length], 'the subscriptions');
        },
      },
    };
  },
  [`GET ${of}`]: (situation) => {
    const id = subscriptionId(situation);
    const known = situation.own.subscriptions.get(id);
    return {
      request: { path: `${one}/${id}` },
      expected: {
        status: known === undefined ? 404 : 200,
        learn: ({ body }) =>
          same([body.name, body.active, body.secret ?? null], [known?.name, known?.active, null], `the subscription ${id}`),
      },
    };
  },
  [`PUT ${of}`]: changing('PUT'),
  [`PATCH ${of}`]: changing('PATCH'),
  [`DELETE ${of}`]: (situation) => {
    const { own, random } = situation;
    const id = subscriptionId(situation);
    // A subscription that is there is seldom deleted, so that there are some.
    const dryRun = random() < 0.8;
    return {
      request: { path: `${one}/${id}`, ...(dryRun && { query: 'dry_run=true' }) },
      expected: {
        status: own.subscriptions.has(id) ? 200 : 404,
        learn: () => {
          if (!dryRun && own.subscriptions.delete(id)) own.gone.push(id);
        },
      },
    };
  },
  [`POST ${of}/rotate-secret`]: below('rotate-secret', 'POST', ({ signed }) => (signed ? 200 : 409)),
  [`POST ${of}/test`]: below('test', 'POST', ({ active }) => (active ? 202 : 409)),
  [`POST ${of}/recover`]: (situation) => {
    const id = subscriptionId(situation);
    const known = situation.own.subscriptions.get(id);
    const broken = situation.random() < 0.3;
    return {
      request: { path: `${one}/${id}/recover`, body: broken ? { since: 'yesterday' } : { since: '2026-11-21T00:00:00Z' } },
      expected: {
        status: broken ? 400 : known === undefined ? 404 : known.active ? 202 : 409,
        learn: ({ body }) => same(body.recovered, 0, 'what was recovered'),
      },
    };
  },
  [`GET ${of}/deliveries`]: below('deliveries', 'GET', () => 200),
  [`GET ${root}/agent/:ai_agent_id/deliveries`]: (situation) => {
    const id = agentId(situation);
    return {
      request: { path: `${root}/agent/${id}/deliveries` },
      expected: {
        status: situation.own.agents.has(id) ? 200 : 404,
        learn: ({ body }) => same(body.data, [], `the deliveries to ${id}`),
      },
    };
  },
  [`GET ${of}/deliveries/:delivery_id`]: delivery('', true),
  [`GET ${of}/deliveries/:delivery_id/attempts`]: delivery('/attempts', true),
  [`POST ${of}/deliveries/:delivery_id/redeliver`]: delivery('/redeliver', true),
  [`GET ${one}/deliveries/:delivery_id/attempts`]: delivery('/attempts', false),
  [`POST ${one}/deliveries/:delivery_id/redeliver`]: delivery('/redeliver', false),
  [`GET ${root}/event-types`]: () => ({ request: { path: `${root}/event-types` }, expected: { status: 200 } }),
};
