import { beforeAll, describe, expect, it } from 'vitest';

import { anAgent, aPhoneNumber, aSecret, aTool, aWebhookSubscription } from '../../support/builders.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { condition, grant, startPlugin } from './plugin.ts';

const plugin = suiteFixture(startPlugin);
let org: string;

const ref = { provider: 'openai', model: 'm', apiKeySecretRef: { name: 'keys', key: 'apiKey' } };
const headers = [{ name: 'X-Key', valueFrom: { secretKeyRef: { name: 'shop', key: 'token' } } }];

beforeAll(async () => {
  org = await organizationNamespace('explain');
  await plugin.put(
    {
      ...anAgent('reception', org, { llm: ref }),
      status: {
        observedGeneration: 1,
        servingRevision: 'ab12'.repeat(16),
        desiredRevision: 'cd34'.repeat(16),
        servingSince: '2026-01-01T00:00:00Z',
        conditions: [condition('Ready', 'False', 'SecretNotFound', `Secret ${org}/keys does not exist`)],
      },
    },
    aTool('orders', org, {
      agentRefs: [{ name: 'reception' }],
      custom: { function: { name: 'look_up' }, http: { url: 'https://shop.example.com/orders', headers } },
    }),
    aPhoneNumber('front', '+15550123', org, { inboundAgentRef: { name: 'reception' } }),
    aWebhookSubscription('hook', org, { scope: { type: 'AgentRefs', agentRefs: [{ name: 'reception' }] } }),
    aSecret('shop', { token: 'canary-of-the-shop' }, org),
  );
  const regarding = { apiVersion: 'parley.dev/v1beta1', kind: 'Agent', name: 'reception', namespace: org };
  await plugin.transport.request({
    method: 'POST',
    path: `/apis/events.k8s.io/v1/namespaces/${org}/events`,
    body: {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'reception.1', namespace: org },
      eventTime: '2026-01-01T00:00:00.000000Z',
      type: 'Warning',
      reason: 'SecretNotFound',
      action: 'Resolve',
      note: 'the key of the provider is missing',
      reportingController: 'parley.dev/operator',
      reportingInstance: 'x',
      regarding,
    },
  });
});

describe('kubectl parley explain', () => {
  it('shows why, what it refers to, who refers to it, what serves and the last events; of Secrets no values', async () => {
    const { code, stdout, stderr } = await plugin.kubectl(['parley', 'explain', 'agent/reception', '-n', org]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toContain(`Agent ${org}/reception is not ready`);
    expect(stdout).toContain(`Secret ${org}/keys does not exist`);
    expect(stdout).toMatch(/Serves revision ab12ab12ab12, for \S+; the spec asks for cd34cd34cd34/);
    expect(stdout).toMatch(/✗ Secret keys, key apiKey: does not exist +\(spec\.llm\.apiKeySecretRef\)/);
    expect(stdout).toMatch(/ {2}✗ Tool orders: not ready: NotObserved .*function look_up\)\n {6}✓ Secret shop, key token: exists/);
    expect(stdout).toMatch(/Referred to by\n[\s\S]*PhoneNumber front: .*\(spec\.inboundAgentRef\)\n[\s\S]*WebhookSubscription hook: /);
    expect(stdout).toMatch(/Warning +SecretNotFound +1 +the key of the provider is missing/);
    expect(stdout).not.toContain('canary');
  });

  it('is the same for programs', async () => {
    const answer = await plugin.parley(['explain', 'agent', 'reception', '-n', org, '-o', 'json']);
    expect(answer.stdout).not.toContain('canary');
    expect(JSON.parse(answer.stdout)).toMatchObject({
      ready: false,
      problems: [{ reason: 'SecretNotFound' }],
      refersTo: [
        { object: 'Secret keys, key apiKey', sound: false },
        { object: 'Tool orders', refersTo: [{ state: 'exists' }] },
      ],
      referredToBy: expect.arrayContaining([expect.objectContaining({ object: 'PhoneNumber front' })]),
      events: [{ reason: 'SecretNotFound' }],
    });
    const tool = await plugin.parley(['explain', 'ptool/orders', '-n', org]);
    expect(tool.stdout).toMatch(/✗ Agent reception: not ready: SecretNotFound +\(spec\.agentRefs\)/);
  });

  it('takes a namespace in which the operator accepts resources for an organisation, labelled or not', async () => {
    const single = await organizationNamespace('single');
    const unlabelled = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: single, labels: { 'parley.dev/organization': 'false' } } };
    await plugin.put(unlabelled, anAgent('reception', single));
    const explain = () => plugin.parley(['explain', 'agent/reception', '-n', single]);
    expect((await explain()).stdout).toContain('NotAnOrganization');
    await plugin.put({
      ...anAgent('reception', single),
      status: { observedGeneration: 1, conditions: [condition('Accepted', 'False', 'InvalidTimeZone')] },
    });
    expect((await explain()).stdout).not.toContain('NotAnOrganization');
  });

  it('says what it may not see, and what there is instead of what there is not', async () => {
    const user = `explainer-of-${org}`;
    await plugin.put(...grant(user, org, { apiGroups: ['parley.dev'], resources: ['*'], verbs: ['get', 'list'] }));
    const answer = await plugin.parley(['explain', 'agent/reception', '-n', org, '--as', user]);
    expect(answer.stdout).toContain('? Secret keys, key apiKey: not known: you may not read it');
    expect(answer.stdout).toContain(`you may not list events in the namespace ${org}`);
    const absent = await plugin.parley(['explain', 'agent/receptoin', '-n', org]);
    expect(absent).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('it has: reception') });
    const noKind = await plugin.parley(['explain', 'pod/x', '-n', org]);
    expect(noKind).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('use one of: agent') });
  });
});
