/** Flux and Argo CD see a rollout whose Secrets come late: with kstatus, Flux's version of it, and Argo CD's interpreter of Lua. */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { repositoryRoot } from '../../../local-stack/repository.ts';
import { aConfigMap, anAgent, aKnowledgeBase, aSecret, aTool, aWebhookSubscription, type TestManifest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { testGoProgram } from '../../support/programs.ts';
import type { RunningRole } from '../../support/running-role.ts';
import { startCluster, type AnyObject, type Cluster } from './harness.ts';

/** No test takes as long. */
const LONG_GRACE = { PARLEY_REFERENCE_GRACE_MS: '3600000' };
const SHORT_GRACE = { PARLEY_REFERENCE_GRACE_MS: '1000' };

interface Seen {
  readonly kstatus: string;
  readonly flux: string;
  readonly argo: string;
}

let cluster: Cluster;
let operator: RunningRole;
let controllers: ChildProcess;
const answers: ((seen: Seen) => void)[] = [];

beforeAll(async () => {
  const program = await testGoProgram('gitops-status');
  controllers = spawn(program, [join(repositoryRoot(), 'examples/argocd/health.lua')], { stdio: ['pipe', 'pipe', 'inherit'] });
  createInterface({ input: controllers.stdout! }).on('line', (line) => answers.shift()?.(JSON.parse(line) as Seen));
  cluster = await startCluster();
  operator = await cluster.operator({ env: LONG_GRACE });
});
afterAll(async () => {
  controllers?.kill();
  await cluster?.stop();
});

async function look(object: AnyObject): Promise<Seen> {
  const { promise, resolve } = Promise.withResolvers<Seen>();
  answers.push(resolve);
  controllers.stdin?.write(`${JSON.stringify(object)}\n`);
  return promise;
}

const key = { name: 'keys', key: 'apiKey' };
const late = (org: string): readonly TestManifest[] => [
  aSecret('keys', { apiKey: 'x' }, org),
  aSecret('signing', { current: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }, org),
  aConfigMap('texts', { policy: 'No refunds.' }, org),
];
/** Returns objects in an order in which nothing that is named is there yet. */
const rollout = (org: string): readonly TestManifest[] => [
  aTool('orders', org, {
    agentRefs: [{ name: 'reception' }],
    custom: {
      function: { name: 'look_up_order' },
      http: { url: 'https://api.example.com/orders', headers: [{ name: 'authorization', valueFrom: { secretKeyRef: key } }] },
    },
  }),
  anAgent('reception', org, { llm: { provider: 'openai', model: 'm', apiKeySecretRef: key }, knowledgeBaseRef: { name: 'faq' } }),
  aWebhookSubscription('hook', org, {
    signing: { mode: 'Secret', secretRef: { name: 'signing' } },
    scope: { type: 'AgentRefs', agentRefs: [{ name: 'reception' }] },
  }),
  aKnowledgeBase('faq', org, { sources: [{ name: 'policy', type: 'ConfigMap', configMap: { name: 'texts', key: 'policy' } }] }),
];

async function lookAtAll(org: string): Promise<readonly (Seen & { readonly name: string })[]> {
  return Promise.all(
    rollout(org).map(async ({ kind, metadata: { name } }) => {
      const { kstatus, flux, argo } = await look(await cluster.get(kind, org, name));
      return { name: `${kind}/${name}`, kstatus, flux, argo };
    }),
  );
}

/** Tells whether the operator has reported on each object as it is. */
async function allReconciled(org: string): Promise<boolean> {
  const objects = await Promise.all(rollout(org).map(({ kind, metadata: { name } }) => cluster.get(kind, org, name)));
  return objects.every(({ status, metadata: { generation } }) => status?.observedGeneration === generation);
}

const all = (kstatus: string, argo: string) =>
  ['Tool/orders', 'Agent/reception', 'WebhookSubscription/hook', 'KnowledgeBase/faq'].map((name) => ({
    name,
    kstatus,
    flux: kstatus,
    argo,
  }));
const shown = (seen: readonly (Seen & { readonly name: string })[]) =>
  seen.map(({ name, kstatus, flux, argo }) => ({ name, kstatus, flux, argo }));

it.concurrent('is in progress until the Secrets come, never failed, and then current', async () => {
  const org = await cluster.organization();
  await cluster.apply(...rollout(org));
  const seen = new Set<string>();
  await eventually(async () => {
    const reconciled = await allReconciled(org);
    for (const { kstatus, flux, argo } of await lookAtAll(org)) seen.add(`${kstatus} ${flux} ${argo}`);
    expect(reconciled).toBe(true);
  });
  expect([...seen]).toEqual(['InProgress InProgress Progressing']);
  await cluster.apply(...late(org));
  await eventually(async () => {
    const now = await lookAtAll(org);
    for (const { kstatus, flux, argo } of now) seen.add(`${kstatus} ${flux} ${argo}`);
    expect(shown(now)).toEqual(all('Current', 'Healthy'));
  });
  expect([...seen].filter((each) => /Failed|Degraded/.test(each))).toEqual([]);
});

it.concurrent('is in progress while something that was there is lost, and has not failed', async () => {
  const org = await cluster.organization();
  await cluster.apply(...rollout(org), ...late(org));
  await eventually(async () => expect(shown(await lookAtAll(org))).toEqual(all('Current', 'Healthy')));
  await cluster.remove('Secret', org, 'keys');
  const inProgress = async (): Promise<readonly string[]> =>
    (await lookAtAll(org)).filter(({ kstatus }) => kstatus === 'InProgress').map(({ name }) => name);
  await eventually(async () => expect(await inProgress()).toEqual(['Tool/orders', 'Agent/reception']));
});

it.concurrent('is current while it is suspended, ready or not', async () => {
  const org = await cluster.organization();
  for (const manifest of rollout(org)) await cluster.apply({ ...manifest, spec: { ...manifest.spec, suspend: true } });
  await eventually(async () => expect(shown(await lookAtAll(org))).toEqual(all('Current', 'Suspended')));
});

it('has failed once the grace is over, and heals all the same', async () => {
  await operator.stop();
  await cluster.operator({ env: SHORT_GRACE });
  const org = await cluster.organization();
  await cluster.apply(...rollout(org));
  await eventually(async () => expect(shown(await lookAtAll(org))).toEqual(all('Failed', 'Degraded')));
  await cluster.apply(...late(org));
  await eventually(async () => expect(shown(await lookAtAll(org))).toEqual(all('Current', 'Healthy')));
});
