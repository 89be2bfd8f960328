import { describe, expect, it, onTestFinished } from 'vitest';

import type { AgentRevisionConfig } from '../../../crds/agent-revision.ts';
import type { AgentStatus } from '../../../crds/index.ts';
import { configHashOf } from '../../../crds/requested-test.ts';
import { createInformer, KubeError } from '../../../kube/index.ts';
import {
  aConfigMap,
  anAgent,
  aKnowledgeBase,
  aPhoneNumber,
  aSecret,
  aTool,
  aWebhookSubscription,
  type TestManifest,
} from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { condition, startCluster, toolsOffered, type AnyObject } from './harness.ts';

const cluster = suiteFixture(startCluster);
const operator = suiteFixture(() => cluster.operator());

/** Tells whether calls start with the one tool that there is. */
const servesOneTool = (agent: AnyObject): boolean =>
  toolsOffered(agent) === 1 && agent.status?.['servingRevision'] === agent.status?.['desiredRevision'];

const CANARY = 'canary-7f3a9d51c2e84b06';
let lastNumber = 10_000;
const freshNumber = (): string => `+1555${String((lastNumber += 1)).padStart(7, '0')}`;

/** Returns everything that can be referred to, and everything that refers to it. */
function everything(org: string): readonly TestManifest[] {
  const secretRef = { name: 'keys', key: 'apiKey' };
  return [
    aSecret('keys', { apiKey: CANARY }, org),
    aSecret('signing', { current: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }, org),
    aConfigMap('texts', { prompt: 'Be kind.', policy: 'No refunds.' }, org),
    aKnowledgeBase('faq', org, { sources: [{ name: 'policy', type: 'ConfigMap', configMap: { name: 'texts', key: 'policy' } }] }),
    anAgent('reception', org, {
      llm: {
        provider: 'openai',
        model: 'gpt-4o-mini',
        apiKeySecretRef: secretRef,
        systemPromptFrom: { configMapKeyRef: { name: 'texts', key: 'prompt' } },
      },
      knowledgeBaseRef: { name: 'faq' },
    }),
    anAgent('desk', org, { handoffs: [{ agentRef: { name: 'reception' }, when: 'the caller wants a room' }] }),
    aTool('orders', org, {
      agentRefs: [{ name: 'reception' }],
      custom: {
        function: { name: 'look_up_order' },
        http: { url: 'https://api.example.com/orders', headers: [{ name: 'authorization', valueFrom: { secretKeyRef: secretRef } }] },
      },
    }),
    aPhoneNumber('front', freshNumber(), org, {
      type: 'Carrier',
      carrier: { accountSID: 'AC1', authTokenSecretRef: secretRef },
      inboundAgentRef: { name: 'reception' },
    }),
    aWebhookSubscription('hook', org, {
      signing: { mode: 'Secret', secretRef: { name: 'signing' } },
      scope: { type: 'AgentRefs', agentRefs: [{ name: 'reception' }] },
    }),
  ];
}

const objects = [
  ['Agent', 'reception'],
  ['Agent', 'desk'],
  ['Tool', 'orders'],
  ['PhoneNumber', 'front'],
  ['KnowledgeBase', 'faq'],
  ['WebhookSubscription', 'hook'],
] as const;

async function allReady(org: string): Promise<void> {
  await Promise.all(objects.map(([kind, name]) => cluster.ready(kind, org, name)));
}

describe('an organisation with all kinds', () => {
  it('becomes ready, with a stored revision that holds everything but the values of secrets', async () => {
    const org = await cluster.organization();
    await cluster.apply(...everything(org));
    await allReady(org);
    const agent = await cluster.until('Agent', org, 'reception', servesOneTool);
    expect(agent.metadata.finalizers).toEqual(['parley.dev/finalizer']);
    expect(agent.status).toMatchObject({ tools: { names: ['orders'] } });
    const serving = await cluster.store.agentRevisions.servingByName({ org, agentName: 'reception' });
    expect(serving?.revision).toBe(agent.status?.['servingRevision']);
    expect(serving?.config).toMatchObject({ systemPrompt: 'Be kind.', knowledgeBase: 'faq', tools: [{ functionName: 'look_up_order' }] });
    expect(JSON.stringify(serving)).not.toContain(CANARY);

    const tool = await cluster.ready('Tool', org, 'orders');
    expect(tool.status).toMatchObject({
      functionName: 'look_up_order',
      attachedAgents: 1,
      agents: [{ name: 'reception', attached: true }],
    });
    const phone = await cluster.ready('PhoneNumber', org, 'front');
    expect(condition(phone, 'Synced')).toMatchObject({ status: 'Unknown', reason: 'MediaServerNotConfigured' });
    const base = await cluster.ready('KnowledgeBase', org, 'faq');
    expect(base.status).toMatchObject({ embedding: { model: 'bm25', dimension: 0 } });
    expect((await cluster.ready('WebhookSubscription', org, 'hook')).status).toMatchObject({ signingSecretRef: { name: 'signing' } });

    const events = await cluster.client('Event').list({ namespace: org });
    const everythingSaid = JSON.stringify([events, ...(await Promise.all(objects.map(([kind, name]) => cluster.get(kind, org, name))))]);
    expect(everythingSaid).not.toContain(CANARY);
    expect(await operator.registry.metrics()).not.toContain(CANARY);
  });

  const cases: readonly {
    readonly remove: readonly [kind: string, name: string];
    readonly reason: string;
    readonly referrers: readonly (readonly [kind: string, name: string])[];
  }[] = [
    {
      remove: ['Secret', 'keys'],
      reason: 'SecretNotFound',
      referrers: [
        ['Agent', 'reception'],
        ['Tool', 'orders'],
        ['PhoneNumber', 'front'],
      ],
    },
    { remove: ['Secret', 'signing'], reason: 'SecretNotFound', referrers: [['WebhookSubscription', 'hook']] },
    {
      remove: ['ConfigMap', 'texts'],
      reason: 'ConfigMapNotFound',
      referrers: [
        ['Agent', 'reception'],
        ['KnowledgeBase', 'faq'],
      ],
    },
    { remove: ['KnowledgeBase', 'faq'], reason: 'KnowledgeBaseNotFound', referrers: [['Agent', 'reception']] },
    {
      remove: ['Agent', 'reception'],
      reason: 'AgentNotFound',
      referrers: [
        ['Agent', 'desk'],
        ['Tool', 'orders'],
        ['PhoneNumber', 'front'],
        ['WebhookSubscription', 'hook'],
      ],
    },
  ];
  it.each(cases)(
    'shows that $remove is gone on everything that names it, and heals when it returns',
    async ({ remove: [kind, name], reason, referrers }) => {
      const org = await cluster.organization();
      const manifests = everything(org);
      await cluster.apply(...manifests);
      await allReady(org);
      const before = await cluster.get('Agent', org, 'reception');

      await cluster.remove(kind, org, name);
      for (const [referrer, referrerName] of referrers) {
        const object = await cluster.reason(referrer, org, referrerName, 'ResolvedRefs', reason);
        expect(condition(object, 'ResolvedRefs')?.message).toContain(`${kind} ${org}/${name} `);
        expect(condition(object, 'Ready')).toMatchObject({ status: 'False', reason });
        // The object may be back in a moment.
        expect(condition(object, 'Reconciling')).toMatchObject({ status: 'True', reason: 'WaitingForReferences' });
      }
      if (kind === 'KnowledgeBase') {
        // The agent talks without it: new calls start with all the rest, later edits included.
        const lacking = await cluster.reason('Agent', org, 'reception', 'Synced', 'RevisionReduced');
        expect(condition(lacking, 'Ready')?.message).toContain('(calls continue without it)');
        await cluster.apply(
          ...manifests.flatMap((manifest) =>
            manifest.kind === 'Agent' ? [{ ...manifest, spec: { ...manifest.spec, welcomeMessage: 'Edited' } }] : [],
          ),
        );
        await cluster.until('Agent', org, 'reception', ({ status }) => status?.observedGeneration === 2);
        const serving = await cluster.store.agentRevisions.servingByName({ org, agentName: 'reception' });
        expect(serving?.config).toMatchObject({ knowledgeBase: null, agent: { welcomeMessage: 'Edited' } });
      } else if (kind !== 'Agent') {
        const during = await cluster.get('Agent', org, 'reception');
        expect(during.status?.['servingRevision']).toBe(before.status?.['servingRevision']);
      }

      // An object that is still on its way out would take the new one along.
      await eventually(() => expect(cluster.get(kind, org, name)).rejects.toThrow(KubeError));
      await cluster.apply(...manifests.filter((manifest) => manifest.kind === kind && manifest.metadata.name === name));
      await allReady(org);
      for (const [referrer, referrerName] of referrers)
        expect(condition(await cluster.get(referrer, org, referrerName), 'Stalled')).toBeUndefined();
    },
  );

  it('notices that a key of a Secret goes and comes back', async () => {
    const org = await cluster.organization();
    await cluster.apply(...everything(org));
    await allReady(org);
    await cluster
      .client('Secret')
      .update({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', namespace: org }, data: { other: 'eA==' } });
    const agent = await cluster.reason('Agent', org, 'reception', 'Ready', 'SecretKeyNotFound');
    expect(condition(agent, 'Ready')?.message).toContain(
      `Secret ${org}/keys has no key "apiKey"; add it or change spec.llm.apiKeySecretRef`,
    );
    await cluster
      .client('Secret')
      .update({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', namespace: org }, data: { apiKey: 'eA==' } });
    await allReady(org);
  });
});

const custom = (parameters: object) => ({
  agentRefs: [{ name: 'reception' }],
  custom: { function: { name: 'find', parameters }, http: { url: 'https://api.example.com/' } },
});

describe('agent revisions', () => {
  it('makes a new one when a Secret is rotated, with the same configHash', async () => {
    const org = await cluster.organization();
    await cluster.apply(...everything(org));
    await allReady(org);
    const before = await cluster.until('Agent', org, 'reception', servesOneTool);
    await cluster.apply(aSecret('keys', { apiKey: 'rotated' }, org));
    const after = await cluster.until(
      'Agent',
      org,
      'reception',
      ({ status }) => status?.['servingRevision'] !== before.status?.['servingRevision'],
    );
    const [one, other] = await Promise.all(
      [before, after].map(({ status }) =>
        cluster.store.agentRevisions.get({ org, agentName: 'reception', revision: String(status?.['servingRevision']) }),
      ),
    );
    expect(configHashOf(other?.config as AgentRevisionConfig)).toBe(configHashOf(one?.config as AgentRevisionConfig));
  });

  it.each([
    [
      'a missing Secret',
      { llm: { provider: 'openai', model: 'm', apiKeySecretRef: { name: 'nowhere', key: 'k' } } },
      'SecretNotFound',
      'create it or change spec.llm.apiKeySecretRef',
    ],
    ['a language that is none', { language: 'en-US-oxendict-x' }, 'InvalidLanguage', 'BCP 47'],
  ])('keeps serving the last sound one through an edit with %s', async (_what, edit, reason, advice) => {
    const org = await cluster.organization();
    await cluster.apply(anAgent('reception', org));
    const good = await cluster.ready('Agent', org, 'reception');
    await cluster.apply(anAgent('reception', org, edit));
    const bad = await cluster.reason('Agent', org, 'reception', 'Ready', reason);
    expect(bad.status?.['servingRevision']).toBe(good.status?.['servingRevision']);
    expect(bad.status?.['desiredRevision']).not.toBe(good.status?.['desiredRevision']);
    expect(condition(bad, 'Ready')?.message).toContain(advice);
    expect((await cluster.store.agentRevisions.servingByName({ org, agentName: 'reception' }))?.revision).toBe(
      good.status?.['servingRevision'],
    );

    await cluster.apply(anAgent('reception', org));
    const healed = await cluster.ready('Agent', org, 'reception');
    expect(healed.status?.['servingRevision']).toBe(good.status?.['servingRevision']);
  });

  it('stands aside for a tool that is not usable, and leaves out one that lost its function name', async () => {
    const org = await cluster.organization();
    await cluster.apply(anAgent('reception', org), aTool('older', org, custom({ type: 'object' })));
    const agent = await cluster.until('Agent', org, 'reception', (object) => toolsOffered(object) === 1);
    await cluster.untilOlder('Tool', org, 'older');
    await cluster.apply(aTool('younger', org, custom({ type: 'object' })));
    const loser = await cluster.reason('Tool', org, 'younger', 'Accepted', 'FunctionNameConflict');
    const message = `already has a function "find" from the older Tool ${org}/older`;
    expect(loser.status).toMatchObject({
      attachedAgents: 0,
      agents: [{ name: 'reception', attached: false, reason: 'FunctionNameConflict', message }],
    });
    expect(condition(loser, 'Accepted')?.message).toContain(`offered by 0 of 1 agents; Agent ${org}/reception ${message}`);
    expect((await cluster.get('Agent', org, 'reception')).status).toMatchObject({
      tools: { names: ['older'] },
      servingRevision: agent.status?.['servingRevision'],
    });

    await cluster.apply(aTool('older', org, custom({ type: 'object', properties: { id: { type: 'strin' } } })));
    await cluster.reason('Tool', org, 'older', 'Accepted', 'InvalidParameters');
    const held = await cluster.reason('Agent', org, 'reception', 'ResolvedRefs', 'ToolNotUsable');
    expect(condition(held, 'Ready')?.message).toContain(`Tool ${org}/older is not usable`);

    await cluster.remove('Tool', org, 'older');
    await cluster.ready('Tool', org, 'younger');
    await cluster.until(
      'Agent',
      org,
      'reception',
      (object) => servesOneTool(object) && (object.status as AgentStatus).tools?.names[0] === 'younger',
    );
  });
});

describe('what only one may have', () => {
  it('gives a number to the oldest of the deployment, never names its owner to others, and keeps it for its organisation', async () => {
    const [mine, theirs] = [await cluster.organization('mine'), await cluster.organization('secretive')];
    const number = freshNumber();
    await cluster.apply(aPhoneNumber('hidden-name', number, theirs));
    await cluster.ready('PhoneNumber', theirs, 'hidden-name');
    await cluster.untilOlder('PhoneNumber', theirs, 'hidden-name');
    await cluster.apply(aPhoneNumber('wanted', number, mine));
    const taken = await cluster.reason('PhoneNumber', mine, 'wanted', 'Accepted', 'NumberTaken');
    expect(condition(taken, 'Stalled')?.status).toBe('True');
    expect(JSON.stringify(taken.status)).not.toMatch(/secretive|hidden-name/);
    await cluster.remove('PhoneNumber', theirs, 'hidden-name');
    const reserved = await cluster.reason('PhoneNumber', mine, 'wanted', 'Accepted', 'NumberReserved');
    expect(JSON.stringify(reserved.status)).not.toMatch(/secretive|hidden-name/);
  });

  it.each(['KnowledgeBase', 'WebhookSubscription'] as const)(
    'lets the oldest %s of an organisation keep its display name',
    async (kind) => {
      const org = await cluster.organization();
      const make = (name: string, displayName: string): TestManifest =>
        (kind === 'KnowledgeBase' ? aKnowledgeBase : aWebhookSubscription)(name, org, { displayName });
      await cluster.apply(make('first', 'Answers'));
      await cluster.ready(kind, org, 'first');
      await cluster.untilOlder(kind, org, 'first');
      await cluster.apply(make('second', 'Answers'));
      const second = await cluster.reason(kind, org, 'second', 'Accepted', 'DisplayNameTaken');
      expect(condition(second, 'Stalled')?.message).toContain(`${kind} ${org}/first is already called "Answers"`);
      await cluster.apply(make('first', 'Other answers'));
      await cluster.ready(kind, org, 'second');
    },
  );
});

describe('signing secrets', () => {
  const secretName = 'webhooksubscription-hook';

  it('generates one, keeps it, and makes a new one only when it is deleted', async () => {
    const org = await cluster.organization();
    await cluster.apply(aWebhookSubscription('hook', org, { signing: { mode: 'Generated' } }));
    const hook = await cluster.ready('WebhookSubscription', org, 'hook');
    expect(hook.status).toMatchObject({ signingSecretRef: { name: secretName } });
    const secret = await cluster.get('Secret', org, secretName);
    const first = Buffer.from(secret.data?.['current'] ?? '', 'base64').toString();
    expect(first).toMatch(/^whsec_/);
    expect(Buffer.from(first.slice('whsec_'.length), 'base64')).toHaveLength(32);
    expect(secret.metadata.ownerReferences).toMatchObject([{ kind: 'WebhookSubscription', name: 'hook', uid: hook.metadata.uid }]);

    await cluster.apply(aWebhookSubscription('hook', org, { signing: { mode: 'Generated' }, description: 'changed' }));
    await cluster.ready('WebhookSubscription', org, 'hook');
    expect((await cluster.get('Secret', org, secretName)).data).toEqual(secret.data);

    await cluster.remove('Secret', org, secretName);
    await cluster.until('Secret', org, secretName, ({ data }) => data !== undefined && data['current'] !== secret.data?.['current']);
    await cluster.ready('WebhookSubscription', org, 'hook');
  });

  it('adds the key to a Secret of the subscription, and leaves one of somebody else alone', async () => {
    const org = await cluster.organization();
    await cluster.apply(aSecret(secretName, { mine: 'x' }, org), aWebhookSubscription('hook', org, { signing: { mode: 'Generated' } }));
    const refused = await cluster.reason('WebhookSubscription', org, 'hook', 'ResolvedRefs', 'SecretNotOwned');
    expect(Object.keys((await cluster.get('Secret', org, secretName)).data ?? {})).toEqual(['mine']);

    const secret = await cluster.get('Secret', org, secretName);
    const owner = { apiVersion: refused.apiVersion, kind: refused.kind, name: 'hook', uid: refused.metadata.uid };
    await cluster.client('Secret').update({ ...secret, metadata: { ...secret.metadata, ownerReferences: [owner] } });
    await cluster.ready('WebhookSubscription', org, 'hook');
    expect(Object.keys((await cluster.get('Secret', org, secretName)).data ?? {}).sort()).toEqual(['current', 'mine']);
  });
});

it('takes a long prompt over that a restore has left without an owner, so that it goes with its agent', async () => {
  const org = await cluster.organization();
  const prompt = aConfigMap('agent-desk', { prompt: 'Be kind.' }, org);
  const labels = { 'parley.dev/companion-of': 'agent' };
  const systemPromptFrom = { configMapKeyRef: { name: 'agent-desk', key: 'prompt' } };
  await cluster.apply(
    { ...prompt, metadata: { ...prompt.metadata, labels } },
    anAgent('desk', org, { llm: { provider: 'openai', model: 'm', systemPromptFrom } }),
  );
  const { metadata } = await cluster.ready('Agent', org, 'desk');
  const kept = await cluster.until('ConfigMap', org, 'agent-desk', (object) => (object.metadata.ownerReferences ?? []).length > 0);
  expect(kept.metadata.ownerReferences).toMatchObject([{ kind: 'Agent', name: 'desk', uid: metadata.uid }]);
});

describe('what steers the operator', () => {
  it('acts upon nothing outside an organisation, until the namespace becomes one', async () => {
    const name = `plain-${Date.now()}`;
    await cluster.client('Namespace').apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await cluster.apply(
      aSecret('keys', { apiKey: 'x' }, name),
      anAgent('reception', name, { llm: { provider: 'openai', model: 'm', apiKeySecretRef: { name: 'keys', key: 'apiKey' } } }),
    );
    const outside = await cluster.reason('Agent', name, 'reception', 'Accepted', 'NotAnOrganization');
    expect(condition(outside, 'Ready')?.message).toContain(`kubectl label namespace ${name} parley.dev/organization=true`);
    expect(outside.metadata.finalizers).toBeUndefined();
    await cluster
      .client('Namespace')
      .apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { 'parley.dev/organization': 'true' } } });
    await cluster.ready('Agent', name, 'reception');
  });

  it('leaves a suspended object alone, and takes up what happened when it goes on', async () => {
    const org = await cluster.organization();
    await cluster.apply(anAgent('reception', org));
    const before = await cluster.ready('Agent', org, 'reception');
    await cluster.apply(anAgent('reception', org, { suspend: true, welcomeMessage: 'Hello' }));
    const suspended = await cluster.reason('Agent', org, 'reception', 'Suspended', 'Suspended');
    expect(suspended.status?.['servingRevision']).toBe(before.status?.['servingRevision']);
    expect(suspended.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual(['Suspended=True', 'Progressing=Unknown']);
    await cluster.apply(anAgent('reception', org, { welcomeMessage: 'Hello' }));
    const after = await cluster.ready('Agent', org, 'reception');
    expect(after.status?.['servingRevision']).not.toBe(before.status?.['servingRevision']);

    await cluster.apply(anAgent('reception', org, { suspend: true }));
    await cluster.reason('Agent', org, 'reception', 'Suspended', 'Suspended');
    await cluster.remove('Agent', org, 'reception');
    await expect
      .poll(() =>
        cluster.get('Agent', org, 'reception').then(
          () => 'there',
          () => 'gone',
        ),
      )
      .toBe('gone');
  });

  it('answers a requested reconcile in the status', async () => {
    const org = await cluster.organization();
    await cluster.apply(anAgent('reception', org));
    await cluster.ready('Agent', org, 'reception');
    const manifest = anAgent('reception', org);
    await cluster.apply({
      ...manifest,
      metadata: { ...manifest.metadata, annotations: { 'parley.dev/reconcile-requested-at': '2026-01-01T00:00:00Z' } },
    });
    const handled = await cluster.until('Agent', org, 'reception', ({ status }) => status?.['lastHandledReconcileAt'] !== undefined);
    expect(handled.status?.['lastHandledReconcileAt']).toBe('2026-01-01T00:00:00Z');
  });

  it('reports each transition once', async () => {
    const org = await cluster.organization();
    await cluster.apply(anAgent('reception', org));
    await cluster.ready('Agent', org, 'reception');
    await cluster.apply(anAgent('reception', org, { timeZone: 'Mars/Base' }));
    await cluster.reason('Agent', org, 'reception', 'Ready', 'InvalidTimeZone');
    const reasonsTold = async (): Promise<readonly unknown[]> =>
      (await cluster.client<never>('Event').list({ namespace: org })).items
        .map((event) => (event as { readonly reason?: string }).reason)
        .sort((a = '', b = '') => a.localeCompare(b));
    await expect.poll(reasonsTold).toEqual(['Available', 'InvalidTimeZone']);
  });
});

describe('writes', () => {
  it('writes nothing at rest, and one status for one change of a spec', async () => {
    const org = await cluster.organization();
    const manifests = everything(org);
    const annotation = 'parley.dev/reconcile-requested-at';
    // States of each object, by its spec and by the last reconcile that was requested.
    const states = new Map<string, number>();
    for (const kind of new Set(objects.map(([each]) => each))) {
      const informer = createInformer<AnyObject>({ client: cluster.client(kind), namespace: org, transform: (object) => object });
      informer.onChange(({ object: { metadata } }) => {
        const state = `${kind} ${metadata.name} ${metadata.generation} ${metadata.annotations?.[annotation]}`;
        states.set(state, (states.get(state) ?? 0) + 1);
      });
      informer.start();
      onTestFinished(() => informer.stop());
    }
    const applied = async (welcomeMessage?: string, requested?: string): Promise<void> => {
      for (const manifest of manifests.filter(({ kind }) => objects.some(([each]) => each === kind))) {
        const spec = manifest.kind === 'Agent' ? { ...manifest.spec, welcomeMessage } : manifest.spec;
        const metadata = { ...manifest.metadata, ...(requested !== undefined && { annotations: { [annotation]: requested } }) };
        await cluster.apply({ ...manifest, metadata, ...(spec !== undefined && { spec }) });
      }
    };
    /** Waits until a request is handled: all earlier writes are done by then. */
    const handled = async (requested: string, welcomeMessage?: string): Promise<void> => {
      await applied(welcomeMessage, requested);
      for (const [kind, name] of objects)
        await cluster.until(kind, org, name, ({ status }) => status?.['lastHandledReconcileAt'] === requested);
    };
    await cluster.apply(...manifests);
    await allReady(org);
    await cluster.until('Agent', org, 'reception', servesOneTool);
    await cluster.until('KnowledgeBase', org, 'faq', ({ status }) => expect(status?.['documents']).toMatchObject({ total: 1 }));
    for (const requested of ['settled', 'one', 'two']) await handled(requested);
    for (const welcomeMessage of ['One', 'Two', 'Three']) {
      await applied(welcomeMessage, 'two');
      await Promise.all(['reception', 'desk'].map((name) => cluster.ready('Agent', org, name)));
    }
    await handled('three', 'Three');
    await eventually(() => expect(states.get('Agent reception 4 three')).toBe(2));
    // The writes are the change, and the status that answers it.
    const expected = [
      ...objects.flatMap(([kind, name]) => ['one', 'two'].map((requested) => `${kind} ${name} 1 ${requested}`)),
      ...[2, 3, 4].flatMap((generation) => ['reception', 'desk'].map((name) => `Agent ${name} ${generation} two`)),
    ];
    expect(expected.map((state) => [state, states.get(state)])).toEqual(expected.map((state) => [state, 2]));
  });
});
