import { beforeAll, expect, it } from 'vitest';

import { anAgent, aKnowledgeBase, aPhoneNumber, aSecret, aTool, aWebhookSubscription, type TestManifest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { normalised, startCluster } from './harness.ts';

const cluster = suiteFixture(startCluster);

beforeAll(async () => {
  await cluster.operator({ env: { PARLEY_LOG_LEVEL: 'error' } });
});

const kinds = ['Agent', 'Tool', 'PhoneNumber', 'KnowledgeBase', 'WebhookSubscription'] as const;
type Kind = (typeof kinds)[number];

const own = (kind: string) => ({ name: `${kind}-key`, key: 'value' });

/** Groups each kind with the Secret it names; every kind but the knowledge base names another, and the agent names that. */
function groups(org: string, number: string): Readonly<Record<Kind, readonly TestManifest[]>> {
  const secret = (kind: string): TestManifest => aSecret(`${kind}-key`, { value: 'v' }, org);
  return {
    Agent: [
      secret('agent'),
      anAgent('reception', org, {
        llm: { provider: 'openai', model: 'm', apiKeySecretRef: own('agent') },
        knowledgeBaseRef: { name: 'faq' },
      }),
    ],
    Tool: [
      secret('tool'),
      aTool('orders', org, {
        agentRefs: [{ name: 'reception' }],
        custom: {
          function: { name: 'orders' },
          http: { url: 'https://api.example.com/', headers: [{ name: 'authorization', valueFrom: { secretKeyRef: own('tool') } }] },
        },
      }),
    ],
    PhoneNumber: [
      secret('number'),
      aPhoneNumber('front', number, org, {
        type: 'SIP',
        sip: { passwordSecretRef: own('number') },
        inboundAgentRef: { name: 'reception' },
      }),
    ],
    KnowledgeBase: [aKnowledgeBase('faq', org, { displayName: 'Answers' })],
    WebhookSubscription: [
      secret('hook'),
      aWebhookSubscription('hook', org, {
        signing: { mode: 'Generated' },
        scope: { type: 'AgentRefs', agentRefs: [{ name: 'reception' }] },
        headers: [{ name: 'x-key', valueFrom: { secretKeyRef: own('hook') } }],
      }),
    ],
  };
}

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length <= 1) return [items];
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item].concat(rest)));
}

const names: Readonly<Record<Kind, string>> = {
  Agent: 'reception',
  Tool: 'orders',
  PhoneNumber: 'front',
  KnowledgeBase: 'faq',
  WebhookSubscription: 'hook',
};

async function statuses(org: string): Promise<unknown> {
  const entries = await Promise.all(kinds.map(async (kind) => [kind, normalised(await cluster.get(kind, org, names[kind]), org)] as const));
  return Object.fromEntries(entries);
}

it('ends with the same statuses in each of the 120 orders', async () => {
  const orders = permutations(kinds);
  expect(orders).toHaveLength(120);
  let reference: unknown;
  const attempt = async (order: readonly Kind[], index: number): Promise<void> => {
    const org = await cluster.organization('order');
    const byKind = groups(org, `+1555${String(2_000_000 + index)}`);
    for (const kind of order) {
      const manifests = byKind[kind];
      // Half of the time the Secret comes after the object that names it.
      await cluster.apply(...(index % 2 === 0 ? manifests : manifests.toReversed()));
      // The groups come all at once, or each after the operator has reported what the one before misses.
      if (index % 3 === 0)
        await cluster.until(kind, org, names[kind], (object) => object.status?.observedGeneration === object.metadata.generation);
    }
    await Promise.all(kinds.map((kind) => cluster.ready(kind, org, names[kind])));
    reference ??= await eventually(async () => {
      const settled = await statuses(org);
      expect(settled).toMatchObject({ Agent: { served: true, tools: { total: 1 } }, Tool: { attachedAgents: 1 } });
      return settled;
    });
    await eventually(async () => expect({ order, statuses: await statuses(org) }).toEqual({ order, statuses: reference }));
    await cluster.client('Namespace').delete({ name: org });
  };
  await attempt(orders[0]!, 0);
  const queue = orders.map((order, index) => [order, index] as const).slice(1);
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await attempt(...next);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
});
