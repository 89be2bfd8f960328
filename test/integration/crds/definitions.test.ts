import { beforeAll, describe, expect, it } from 'vitest';

import { customResourceDefinitions } from '../../../crds/generate.ts';
import { kinds } from '../../../crds/index.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { samples } from './samples.ts';
import { openCluster, pluralOf } from './support.ts';

interface InstalledCrd {
  readonly spec: { readonly names: { readonly shortNames: readonly string[]; readonly categories: readonly string[] } };
  readonly status: {
    readonly acceptedNames: Readonly<Record<string, unknown>>;
    readonly storedVersions: readonly string[];
    readonly conditions: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
}

const singularOf = (kind: string) => kinds.find((definition) => definition.descriptor.kind === kind)?.singular ?? '';

describe('the definitions on a real API server', () => {
  const cluster = suiteFixture(() => openCluster('definitions'));
  beforeAll(async () => {
    for (const { status: _status, ...sample } of samples) await cluster.apply(sample);
  });

  it.each(customResourceDefinitions().map((crd) => [crd.spec.names.kind, crd] as const))(
    '%s is established, structural, and has all its names',
    async (_kind, crd) => {
      const installed = JSON.parse(await cluster.kubectl(['get', 'crd', crd.metadata.name, '-o', 'json'])) as InstalledCrd;
      const conditions = Object.fromEntries(installed.status.conditions.map((condition) => [condition.type, condition.status]));
      expect(conditions).toMatchObject({ Established: 'True', NamesAccepted: 'True' });
      expect(conditions).not.toHaveProperty('NonStructuralSchema');
      expect(installed.status.acceptedNames).toEqual(crd.spec.names);
      expect(installed.status.storedVersions).toEqual(['v1beta1']);
    },
  );

  it.each(
    kinds.flatMap((kind) =>
      [kind.descriptor.plural, kind.singular, ...kind.shortNames].map((name) => [name, kind.descriptor.plural] as const),
    ),
  )('kubectl get %s lists %s', async (name, plural) => {
    const listed = await cluster.kubectl(['get', name, '-o', 'name']);
    expect(
      listed
        .trim()
        .split('\n')
        .every((line) => line.startsWith(`${kinds.find((kind) => kind.descriptor.plural === plural)?.singular ?? ''}.parley.dev/`)),
    ).toBe(true);
  });

  it('kubectl get parley shows every object of every kind', async () => {
    const listed = (await cluster.kubectl(['get', 'parley', '-o', 'name'])).trim().split('\n');
    expect(listed.toSorted()).toEqual(samples.map((sample) => `${singularOf(sample.kind)}.parley.dev/${sample.metadata.name}`).toSorted());
  });

  it.each([
    ['Agent', ['NAME', 'DISPLAYNAME', 'READY', 'REASON', 'SUSPEND', 'LANGUAGE', 'LLM', 'VOICE', 'TOOLS', 'AGE']],
    ['Tool', ['NAME', 'FUNCTION', 'READY', 'REASON', 'SUSPEND', 'TYPE', 'AGENTS', 'AGE']],
    ['PhoneNumber', ['NAME', 'DISPLAYNAME', 'READY', 'REASON', 'SUSPEND', 'NUMBER', 'TYPE', 'INBOUND', 'OUTBOUND', 'AGE']],
    ['KnowledgeBase', ['NAME', 'DISPLAYNAME', 'READY', 'REASON', 'SUSPEND', 'DOCUMENTS', 'TOTAL', 'FAILED', 'CHUNKS', 'MODEL', 'AGE']],
    ['WebhookSubscription', ['NAME', 'DISPLAYNAME', 'READY', 'REASON', 'SUSPEND', 'URL', 'LASTDELIVERY', 'AGE']],
    ['AgentTest', ['NAME', 'TYPE', 'READY', 'REASON', 'SUSPEND', 'REQUIRED', 'RESULT', 'LASTRUN', 'AGE']],
  ])('%s prints the columns %j', async (kind, columns) => {
    const [head = ''] = (await cluster.kubectl(['get', pluralOf(kind)])).split('\n');
    expect(head.trim().split(/\s+/)).toEqual(columns);
  });

  it('shows the percentage of a canary in the wide table', async () => {
    const [head = ''] = (await cluster.kubectl(['get', 'agents', '-o', 'wide'])).split('\n');
    expect(head.trim().split(/\s+/).slice(-3)).toEqual(['TOOLS', 'CANARY', 'AGE']);
  });

  it.each(['pagent', 'ptool', 'pphone', 'pkb', 'pwebhook'])('the short name %s works', async (short) => {
    expect(await cluster.kubectl(['get', short, '-o', 'name'])).toMatch(/^[a-z]+\.parley\.dev\//);
  });

  it('phone numbers are selected by number', async () => {
    const found = await cluster.list('PhoneNumber', { fieldSelector: 'spec.number=+15550100002' });
    expect(found.map((number) => number.metadata.name)).toEqual(['native']);
    expect(await cluster.list('PhoneNumber', { fieldSelector: 'spec.number=+15550100009' })).toEqual([]);
    expect(await cluster.kubectl(['get', 'pphone', '--field-selector=spec.number=+15550100001', '-o', 'name'])).toBe(
      'phonenumber.parley.dev/sip\n',
    );
  });

  it.each([
    ['agents.spec.dynamicData.headers.valueFrom.secretKeyRef', 'Name of the Secret, in the same namespace.'],
    ['tools.spec.custom.http.fixedParams', 'Values that override what the model says.'],
    ['knowledgebases.spec.sources.website.urls', 'Pages that are read; together they are one document.'],
    ['phonenumbers.status', 'inboundTrunkID'],
    ['pagent.spec.call.maxDuration', 'Default: 30m. Range: 30s to 7200s. Form: a duration such as 500ms, 10s or 1h30m.'],
    ['pkb.spec.chunking.maxTokens', 'Longest chunk, in tokens. Default: 400. Range: 32 to 8192.'],
  ])('kubectl explain %s knows it', async (field, text) => {
    // The server publishes its OpenAPI document a moment after the definitions.
    await eventually(async () => expect((await cluster.kubectl(['explain', field])).replaceAll(/\s+/g, ' ')).toContain(text));
  });

  it('status is a resource of its own: neither way writes the other part', async () => {
    const [sample] = samples;
    if (sample?.status === undefined) throw new Error('the first sample has no status');
    const { spec, ...statusOnly } = sample;
    await cluster.apply({ ...statusOnly, status: sample.status }, { subresource: 'status' });
    const before = await cluster.get(sample.kind, sample.metadata.name);
    const after = await cluster.apply({ ...statusOnly, spec: { ...spec, displayName: 'Other' }, status: { desiredRevision: 'x' } });
    expect(after.status).toEqual(before.status);
    expect(after.metadata.generation).toBe((before.metadata.generation ?? 0) + 1);
  });
});
