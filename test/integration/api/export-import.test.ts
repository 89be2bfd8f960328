/** An organisation leaves as files and comes back from them: what clients of the REST API see is the same. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { fullAgent, smallAgent } from '../../../api/agents/examples.ts';
import { fromYaml, stringifyYaml } from '../../../cli/yaml.ts';
import { descriptors } from '../../../cli/transfer/cluster.ts';
import type { Manifest } from '../../../cli/transfer/portable.ts';
import {
  aConfigMap,
  aKnowledgeBase,
  anAgent,
  anAgentTest,
  aPhoneNumber,
  aSecret,
  aTool,
  aWebhookSubscription,
} from '../../support/builders.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { parleyHere } from '../../support/parley-command.ts';
import { run, type Finished } from '../../support/run.ts';
import { parleyEntry } from '../../support/stack.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { kubectl, kubectlJson, organization, startFacade, type TestOrganization } from './facade.ts';

/** YAML of one version or another, or a careless writer, would read these texts as something else. */
const odd = [
  'yes',
  'no',
  '012',
  '1:30',
  '1_000',
  '~',
  'null',
  '<<',
  '=',
  '0x1f',
  '2026-11-21',
  ' lead',
  '- a',
  'a: b # c',
  '\tx',
  "it's",
  '"',
];
const plural = 'agents,agenttests,tools,phonenumbers,knowledgebases,webhooksubscriptions,secrets,configmaps';

const facade = suiteFixture(startFacade);
let org: TestOrganization;
let key: string;
const folder = suiteFolder();
let kubeconfig: string;

const parley = (args: readonly string[], input?: string): Promise<Finished> =>
  input === undefined
    ? parleyHere(args, { KUBECONFIG: kubeconfig })
    : run(process.execPath, [parleyEntry, ...args], { env: { KUBECONFIG: kubeconfig }, input });

beforeAll(async () => {
  ({ kubeconfig } = await controlPlane());
});

async function agents(): Promise<readonly { readonly ai_agent_id: string; readonly agent_name: string }[]> {
  const { body } = await facade.call('GET', '/v2/ai-agents?page_size=100', { key });
  const all: { readonly ai_agent_id: string; readonly agent_name: string }[] = body.data;
  return all.toSorted((a, b) => (a.ai_agent_id < b.ai_agent_id ? -1 : 1));
}

async function removeEverything(): Promise<void> {
  await kubectl(['delete', plural, '--all', '--wait', `--namespace=${org.name}`]);
  await expect.poll(async () => (await agents()).length).toBe(0);
}

const exported = (text: string): readonly Manifest[] => fromYaml(text) as readonly Manifest[];

/** Fills a new organisation with one of everything, made over REST and with kubectl. */
async function fill(): Promise<void> {
  org = await organization(facade);
  key = await org.keyWith('*', 'secrets:read');
  const made = await org.call('POST', '/v2/ai-agents', {
    ...fullAgent,
    agent_name: 'Over REST',
    llm: {
      ...fullAgent.llm,
      api_key: 'a secret of the provider\n',
      system_prompt: `${odd.join('\n')}\n\n  indented   \n${'long '.repeat(1000)}`,
      required_dynamic_data: odd.filter((word) => word.trim() === word),
      tools: [
        {
          ...fullAgent.llm.tools[0],
          additional_tool_info: {
            tool_type: 'custom',
            api: { endpoint: 'https://api.example.com/x', headers: { authorization: 'Bearer yes', 'x-plain': '012' } },
          },
        },
      ],
    },
    post_call_analysis: odd.map((word, index) => ({ name: `n${index}`, description: word, examples: [word] })),
  });
  expect(made.status, made.text).toBe(201);
  const items = [
    aSecret('provider', { key: 'sk-1' }, org.name),
    aConfigMap('faq', { text: 'Q: yes?\nA: no.\n' }, org.name),
    aSecret('unrelated', { a: 'b' }, org.name),
    anAgent('by-kubectl', org.name, {
      llm: { provider: 'openai', model: 'm', temperature: '0.7', apiKeySecretRef: { name: 'provider', key: 'key' } },
      call: { maxDuration: '90m' },
    }),
    anAgentTest('hours', 'by-kubectl', org.name),
    aTool('lookup', org.name, { agentRefs: [{ name: 'by-kubectl' }] }),
    aPhoneNumber('front', `+1555${Math.floor(Math.random() * 1e7)}`, org.name, { inboundAgentRef: { name: 'by-kubectl' } }),
    aKnowledgeBase('docs', org.name, { sources: [{ name: 'faq', type: 'ConfigMap', configMap: { name: 'faq', key: 'text' } }] }),
    aWebhookSubscription('hook', org.name, { events: ['CallHandler.CallStarted'], retryPolicy: { maxRetries: 5 } }),
  ];
  await kubectl(['apply', '--server-side', '--filename=-'], { apiVersion: 'v1', kind: 'List', items });
  await eventually(async () => expect(await agents()).toHaveLength(2));
}

describe('parley export', () => {
  beforeAll(fill);

  it('writes what people want and nothing that a server adds, always in the same order', async () => {
    const { code, stdout, stderr } = await parley(['export', org.name]);
    expect(code, stderr).toBe(0);
    expect((await parley(['export', org.name])).stdout).toBe(stdout);
    const objects = exported(stdout);
    expect(objects.map(({ kind, metadata }) => `${kind}/${metadata.name.replace(/-[a-z2-7]{8}$/, '')}`)).toEqual([
      'ConfigMap/agent-over-rest',
      'ConfigMap/faq',
      'Secret/agent-over-rest',
      'Secret/provider',
      'Secret/tool-find-booking',
      'KnowledgeBase/docs',
      'AgentTest/hours',
      'Agent/by-kubectl',
      'Agent/over-rest',
      'Tool/find-booking',
      'Tool/lookup',
      'PhoneNumber/front',
      'WebhookSubscription/hook',
    ]);
    for (const object of objects) {
      expect(Object.keys(object)).not.toContain('status');
      const known = new Set(['annotations', 'labels', 'name', 'namespace']);
      expect(Object.keys(object.metadata).filter((field) => !known.has(field))).toEqual([]);
    }
    const agent = objects.find(({ kind, metadata }) => kind === 'Agent' && metadata.name === 'by-kubectl');
    expect(agent?.spec).toEqual({
      llm: { model: 'm', temperature: '0.7', apiKeySecretRef: { name: 'provider', key: 'key' } },
      speechToText: { provider: 'deepgram' },
      textToSpeech: { provider: 'elevenlabs' },
      call: { maxDuration: '90m' },
    });
    expect(objects.find(({ kind }) => kind === 'WebhookSubscription')?.spec).toEqual({
      url: 'https://hooks.example.com/parley',
      events: ['CallHandler.CallStarted'],
      retryPolicy: { maxRetries: 5 },
    });
    expect(objects.find(({ metadata }) => metadata.name === 'provider')?.stringData).toEqual({ key: 'REPLACE-ME' });
    expect(stdout).not.toContain('sk-1');
    expect(stdout).not.toContain(Buffer.from('sk-1').toString('base64'));
  });

  it('writes files, those with secrets for one pair of eyes', async () => {
    const target = join(folder, 'files');
    const { code, stderr } = await parley(['export', org.name, '--secrets=values', `--output-dir=${target}`]);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('the Secrets contain their values');
    expect((await readdir(target)).toSorted()).toEqual([
      'agent',
      'agenttest',
      'configmap',
      'knowledgebase',
      'phonenumber',
      'secret',
      'tool',
      'webhooksubscription',
    ]);
    const secret = join(target, 'secret/provider.yaml');
    expect((await stat(secret)).mode & 0o777).toBe(0o600);
    expect(exported(await readFile(secret, 'utf8'))[0]?.data).toEqual({ key: Buffer.from('sk-1').toString('base64') });
  });

  it('leaves out the exception of one revision from its tests, which an import would make again', async () => {
    const spec = { release: { skipTests: { revision: 'ab'.repeat(32), reason: 'a hotfix' } } };
    await kubectl(['patch', 'agent', 'by-kubectl', '--type=merge', '-p', JSON.stringify({ spec }), `--namespace=${org.name}`]);
    expect((await parley(['export', org.name])).stdout).not.toContain('a hotfix');
  });

  it('leaves Secrets out on request, and says what is missing', async () => {
    await kubectl(['delete', 'configmap', 'faq', `--namespace=${org.name}`]);
    const { stdout, stderr } = await parley(['export', org.name, '--secrets=none']);
    expect(exported(stdout).filter(({ kind }) => kind === 'Secret')).toEqual([]);
    expect(stderr).toContain('ConfigMap faq is referred to and does not exist');
    // An operator of this namespace alone needs no label.
    await kubectl(['label', 'namespace', org.name, 'parley.dev/organization-']);
    expect((await parley(['export', org.name, '--secrets=none'])).stdout).toBe(stdout);
    expect(await parley(['export', 'nowhere'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no organisation "nowhere"'),
    });
  });
});

describe('what was exported', () => {
  beforeEach(fill);

  it('comes back with parley import: the same answers, owners included', async () => {
    // kubectl itself folds these characters when it applies.
    await org.call('POST', '/v2/ai-agents', {
      ...smallAgent,
      agent_name: 'a\u0085\u2028\ufeff b',
      welcome_message: 'a\u0085\n\u2028\u0007',
    });
    await expect.poll(async () => (await agents()).length).toBe(3);
    const before = await agents();
    const { stdout } = await parley(['export', org.name, '--secrets=values']);
    await removeEverything();
    expect(await parley(['import', '-', '--dry-run'], stdout)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('agent/by-kubectl would be applied'),
    });
    expect(await agents()).toEqual([]);
    expect(await parley(['import', '-'], stdout)).toMatchObject({ code: 0, stdout: expect.stringContaining('agent/by-kubectl applied') });
    await expect.poll(agents).toEqual(before);
    expect((await parley(['export', org.name, '--secrets=values'])).stdout).toBe(stdout);

    // The Secret goes with its agent again.
    const id = before.find(({ agent_name }) => agent_name === 'Over REST')?.ai_agent_id ?? '';
    const secret = await kubectlJson<Manifest>(['get', 'secret', `agent-${id}`, `--namespace=${org.name}`]);
    const agent = await kubectlJson<Manifest>(['get', 'agent', id, `--namespace=${org.name}`]);
    expect(secret.metadata.ownerReferences).toMatchObject([{ kind: 'Agent', name: id, uid: agent.metadata.uid }]);
    expect(secret.metadata.annotations).toBeUndefined();
    // An object from Git is changed in Git, as with kubectl; force takes it out again.
    const change = { agent_name: 'Changed' };
    expect((await org.call('PUT', `/v2/ai-agents/${id}`, change)).body.conflicts).toEqual([{ field: 'agent_name', manager: 'kubectl' }]);
    expect((await org.call('PUT', `/v2/ai-agents/${id}?force=true`, change)).status).toBe(200);
  });

  it('comes back with kubectl: the same answers', async () => {
    const before = await agents();
    const file = join(folder, 'all.yaml');
    await writeFile(file, (await parley(['export', org.name, '--secrets=values'])).stdout);
    await removeEverything();
    await kubectl(['apply', '--server-side', `--filename=${file}`]);
    await expect.poll(agents).toEqual(before);
    // parley import has nothing to argue about with it.
    expect(await parley(['import', file])).toMatchObject({ code: 0 });
  });

  it('moves into another organisation, in the name of the facade', async () => {
    const before = await agents();
    const { stdout } = await parley(['export', org.name, '--secrets=values']);
    await kubectl(['delete', 'phonenumbers', '--all', `--namespace=${org.name}`]);
    const other = await organization(facade);
    const moved = await parley(['import', '-', `--org=${other.name}`, '--field-manager=parley-api'], stdout);
    expect(moved).toMatchObject({ code: 0 });
    const names = before.map(({ agent_name }) => agent_name).toSorted();
    await expect
      .poll(async () =>
        (await other.call('GET', '/v2/ai-agents')).body.data.map((agent: { agent_name: string }) => agent.agent_name).toSorted(),
      )
      .toEqual(names);
    const id = before[0]?.ai_agent_id ?? '';
    expect((await other.call('PUT', `/v2/ai-agents/${id}`, { agent_name: 'Changed' })).status).toBe(200);
  });
});

describe('parley import', () => {
  beforeEach(fill);

  const versions = async (): Promise<readonly unknown[]> => {
    const { items } = await kubectlJson<{ readonly items: readonly Manifest[] }>(['get', plural, `--namespace=${org.name}`]);
    return items.map(({ kind, metadata }) => [kind, metadata.name, metadata.resourceVersion]);
  };

  /** Imports twice, the dry run first. @returns the output of the real one */
  async function importTwice(text: string, ...flags: readonly string[]): Promise<Finished> {
    const file = join(folder, 'twice.yaml');
    await writeFile(file, text);
    const before = await versions();
    const dry = await parley(['import', file, '--dry-run', ...flags]);
    expect(await versions()).toEqual(before);
    const real = await parley(['import', file, ...flags]);
    expect({ ...dry, stdout: dry.stdout.replaceAll('would be applied', 'applied') }).toEqual(real);
    return real;
  }

  it('does of every kind what its dry run said, over what is there, against others, and where nothing is', async () => {
    const { metadata } = await kubectlJson<Manifest>(['get', 'webhooksubscription', 'hook', `--namespace=${org.name}`]);
    // The Secret looks as the operator makes it: its owner reference says more than that of an import.
    const owner = { apiVersion: 'parley.dev/v1beta1', kind: 'WebhookSubscription', name: 'hook', uid: metadata.uid, controller: true };
    const secret = aSecret('webhooksubscription-hook', { signingKey: 'k' }, org.name);
    const generated = { ...secret, metadata: { ...secret.metadata, ownerReferences: [owner] } };
    await kubectl(['create', '--filename=-', '--field-manager=parley-operator'], generated);
    const { stdout: untouched } = await parley(['export', org.name, '--secrets=values']);
    expect(new Set(exported(untouched).map(({ kind }) => kind))).toEqual(new Set(descriptors.map(({ kind }) => kind)));
    const ownersOf = async (name: string) =>
      (await kubectlJson<Manifest>(['get', 'secret', name, `--namespace=${org.name}`])).metadata.ownerReferences;

    expect(await importTwice(untouched)).toMatchObject({ code: 0, stderr: '' });
    expect(await ownersOf('webhooksubscription-hook')).toEqual([owner]);

    const labelled = (team: string): string =>
      exported(untouched)
        .map((object) => {
          const labels = { ...object.metadata.labels, team };
          return `---\n${stringifyYaml({ ...object, metadata: { ...object.metadata, labels } })}`;
        })
        .join('');
    expect(await importTwice(labelled('one'))).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await importTwice(labelled('two'), '--field-manager=another');
    expect([code, stdout]).toEqual([1, '']);
    for (const {
      kind,
      metadata: { name },
    } of exported(untouched))
      expect(stderr).toContain(`${kind} ${name}: `);

    await removeEverything();
    // The owner of a Secret is refused: the Secret comes alone.
    const broken = await importTwice(untouched.replace('provider: deepgram', 'provider: 5').replace('maxRetries: 5', 'maxRetries: five'));
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringMatching(/2 of 14 objects were refused/) });
    expect(await ownersOf('webhooksubscription-hook')).toBeUndefined();
    expect(await importTwice(untouched)).toMatchObject({ code: 0 });
    expect(await ownersOf('webhooksubscription-hook')).toMatchObject([{ kind: 'WebhookSubscription', name: 'hook' }]);
    await removeEverything();
    expect(await importTwice(untouched)).toMatchObject({ code: 0 });
  });

  it('says which objects were refused and applies the others', async () => {
    const { stdout } = await parley(['export', org.name, '--secrets=values']);
    await removeEverything();
    const broken = stdout.replace('provider: deepgram', 'provider: 5');
    const { code, stderr } = await parley(['import', '-'], broken);
    expect(code).toBe(1);
    expect(stderr).toMatch(/1 of 13 objects were refused:\n {2}Agent by-kubectl:/);
    await expect.poll(async () => (await agents()).map(({ agent_name }) => agent_name)).toEqual(['Over REST']);
  });

  it('refuses, before it writes anything, what it could only half apply', async () => {
    const { stdout } = await parley(['export', org.name]);
    await removeEverything();
    expect(await parley(['import', '-'], stdout)).toMatchObject({ code: 1, stderr: expect.stringContaining('has no value for') });
    const numbers = stdout.replaceAll('REPLACE-ME', '12345');
    expect(await parley(['import', '-'], numbers)).toMatchObject({ code: 1, stderr: expect.stringContaining('that is not a string') });
    const other = '---\napiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: y}\n';
    expect(await parley(['import', '-'], other)).toMatchObject({ code: 1, stderr: expect.stringContaining('Pod x (v1) is not imported') });
    expect(await parley(['import', '-'], '[]')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('a document in standard input is no'),
    });
    expect(await parley(['import', '-'], '')).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no object in -') });
    expect(await parley(['import', '-'], 'a: [')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("standard input:1 can't be read"),
    });
    expect(await parley(['import', join(folder, 'missing.yaml')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('missing.yaml'),
    });
    expect(await agents()).toEqual([]);
  });
});
