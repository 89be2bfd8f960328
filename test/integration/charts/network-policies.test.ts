/** Compares the chart's network policies with the page that says who reaches what. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { repositoryRoot } from '../../../local-stack/repository.ts';
import { find, RELEASE, render, roles, withValues } from './helm.ts';

describe('network policies', () => {
  const columns = ['DNS', 'API server', 'Postgres', 'Temporal', 'LiveKit', 'Media', 'Vectors', 'Bucket', 'Outside'] as const;
  interface Rule {
    readonly ports: readonly { readonly port: number | string; readonly endPort?: number; readonly protocol: string }[];
    readonly to?: readonly { readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] } }[];
  }
  /** These ports identify the destinations. */
  const telling: Readonly<Record<(typeof columns)[number], (rule: Rule) => boolean>> = {
    DNS: ({ ports }) => ports.some(({ port }) => port === 53),
    'API server': ({ ports }) => ports.some(({ port }) => port === 6443),
    Postgres: ({ ports }) => ports.some(({ port }) => port === 5432),
    Temporal: ({ ports }) => ports.some(({ port }) => port === 7233),
    LiveKit: ({ ports }) => ports.some(({ port }) => port === 7880),
    Media: ({ ports }) => ports.some(({ protocol, endPort }) => protocol === 'UDP' && endPort === 60_000),
    Vectors: ({ ports }) => ports.some(({ port }) => port === 19_530),
    Bucket: ({ ports }) => ports.some(({ port }) => port === 9000),
    Outside: ({ to = [] }) => to.some(({ ipBlock }) => ipBlock?.except?.includes('10.0.0.0/8') === true),
  };
  const values = withValues({
    organizations: ['acme'],
    secrets: { VECTOR_STORE_URL: { name: 'milvus', key: 'url' } },
    config: { LIVEKIT_URL: 'ws://livekit:7880', PARLEY_EGRESS_ALLOW_CIDRS: '10.20.0.0/16, 10.30.0.7' },
    networkPolicy: { storage: { ports: [9000] } },
  });

  it('let each role reach what the page says, and nothing else', async () => {
    const page = await readFile(join(repositoryRoot(), 'docs/install/network-policies.md'), 'utf8');
    const manifests = await render(values);
    for (const role of [...roles, 'migrate', 'register']) {
      const row = page.split('\n').find((line) => line.startsWith(`| ${role} |`));
      const wanted = row
        ?.split('|')
        .slice(2, -1)
        .map((cell) => cell.trim() === 'yes');
      const { spec } = find(manifests, 'NetworkPolicy', `parley-${role}`) as unknown as {
        spec: { policyTypes: string[]; egress: Rule[]; podSelector: object };
      };
      expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
      expect(
        columns.map((column) => spec.egress.some(telling[column])),
        role,
      ).toEqual(wanted);
      // Every rule is one of those: none allows more in passing.
      for (const rule of spec.egress) {
        expect(rule.ports.length, JSON.stringify(rule)).toBeGreaterThan(0);
        expect(
          columns.filter((column) => telling[column](rule)),
          JSON.stringify(rule),
        ).toHaveLength(1);
      }
    }
  });

  it('let every role reach the collector of traces where there is one, at the port that its address has', async () => {
    const to = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'observability' } } }];
    const egressOf = async (config: Readonly<Record<string, string>>): Promise<readonly string[]> => {
      const manifests = await render(withValues({ config, networkPolicy: { collector: { to } } }));
      return roles.flatMap((role) => {
        const { spec } = find(manifests, 'NetworkPolicy', `parley-${role}`) as unknown as { spec: { egress: Rule[] } };
        return spec.egress.filter((rule) => JSON.stringify(rule.to) === JSON.stringify(to)).map(({ ports }) => `${role} ${ports[0]?.port}`);
      });
    };
    expect(await egressOf({})).toEqual([]);
    expect(await egressOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.observability:4318' })).toEqual(
      roles.map((role) => `${role} 4318`),
    );
    const both = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/v1/traces',
    };
    expect(await egressOf(both)).toEqual(roles.map((role) => `${role} 443`));
  });

  it('leave private networks out of the world outside, but for those that are let in', async () => {
    const manifests = await render(values);
    const { spec } = find(manifests, 'NetworkPolicy', 'parley-dispatcher') as unknown as { spec: { egress: Rule[] } };
    const outside = spec.egress.find(telling.Outside);
    expect(outside?.to?.map(({ ipBlock }) => ipBlock?.cidr)).toEqual(['0.0.0.0/0', '::/0', '10.20.0.0/16', '10.30.0.7/32']);
    expect(outside?.to?.[1]?.ipBlock?.except).toContain('fc00::/7');
    expect(outside?.ports).toEqual([
      { port: 80, protocol: 'TCP' },
      { port: 443, protocol: 'TCP' },
      { port: 1024, endPort: 65_535, protocol: 'TCP' },
    ]);
  });

  it('let only Prometheus and the release itself come in, except to the API', async () => {
    const manifests = await render(
      withValues({ networkPolicy: { metricsFrom: [{ podSelector: { matchLabels: { app: 'prometheus' } } }] } }),
    );
    for (const role of roles) {
      const { spec } = find(manifests, 'NetworkPolicy', `parley-${role}`) as unknown as { spec: { ingress: { from?: object[] }[] } };
      expect(spec.ingress).toHaveLength(1);
      if (role === 'api') expect(spec.ingress[0]).not.toHaveProperty('from');
      else expect(spec.ingress[0]?.from).toHaveLength(2);
    }
  });

  const rulesOf = async (role: string, own: object): Promise<readonly Rule[]> =>
    (find(await render(withValues(own)), 'NetworkPolicy', `parley-${role}`) as unknown as { spec: { egress: Rule[] } }).spec.egress;
  const portsOf = (rules: readonly Rule[]): readonly (number | string)[] => rules.flatMap(({ ports }) => ports.map(({ port }) => port));

  it('let nothing out of the cluster where no networks are given', async () => {
    const nothing = { external: { cidrs: [] }, livekit: { mediaUDP: [], mediaTCP: [] } };
    const config = { PARLEY_EGRESS_ALLOW_CIDRS: '' };
    const closed = await rulesOf('voice', { networkPolicy: nothing, config });
    const open = await rulesOf('voice', { config });
    expect(open.length - closed.length).toBe(2);
    for (const { ports, to } of [...closed, ...open]) expect([ports, to]).not.toContain(null);
    expect(portsOf(closed)).not.toContain(1024);
    const model = { podSelector: { matchLabels: { app: 'model' } } };
    const inside = await rulesOf('worker', { networkPolicy: { external: { cidrs: [], extra: [model] } }, config });
    expect(inside.map(({ to }) => to)).toContainEqual([model]);
  });

  it('go by the addresses in the configuration, wherever they stand', async () => {
    const hidden = (name: string) => ({ name, valueFrom: { secretKeyRef: { name: 'all', key: name } } });
    const minio = { config: { STORAGE_URL: 's3://files?endpoint=http://minio.minio:9000&forcePathStyle=true' } };
    expect(portsOf(await rulesOf('api', minio))).toContain(9000);
    expect(portsOf(await rulesOf('api', { config: { STORAGE_URL: 's3://files?endpoint=http%3A%2F%2Fminio%3A9001' } }))).toContain(9001);
    expect(portsOf(await rulesOf('operator', minio))).not.toContain(9000);
    expect(
      portsOf(await rulesOf('voice', { config: { PARLEY_SMTP_SERVERS: 'a.example=smtp://relay.example:2525,*=smtps://b.example' } })),
    ).toContain(2525);
    const livekit = { config: { LIVEKIT_URL: '' } };
    expect(
      portsOf(await rulesOf('voice', { ...livekit, defaults: { extraEnv: [{ name: 'LIVEKIT_URL', value: 'ws://livekit:7890' }] } })),
    ).toContain(7890);
    expect(portsOf(await rulesOf('voice', { ...livekit, defaults: { extraEnv: [hidden('LIVEKIT_URL')] } }))).toContain(7880);
    expect(portsOf(await rulesOf('voice', { ...livekit, secrets: { LIVEKIT_URL: { name: 'all', key: 'url' } } }))).toContain(7880);
    // The variables of extraEnvFrom show nowhere: their ports have to be said.
    expect(
      portsOf(
        await rulesOf('voice', {
          ...livekit,
          defaults: { extraEnvFrom: [{ secretRef: { name: 'all' } }] },
          networkPolicy: { livekit: { ports: [7777] } },
        }),
      ),
    ).toContain(7777);
    const named = { networkPolicy: { livekit: { ports: [7777] }, temporal: { ports: [7234] } } };
    expect(portsOf(await rulesOf('voice', named))).toEqual(expect.arrayContaining([7777, 7234]));
    expect(portsOf(await rulesOf('voice', { defaults: { extraEnv: [hidden('VECTOR_STORE_URL')] } }))).toContain(19_530);
    expect(portsOf(await rulesOf('voice', { defaults: { extraEnv: [hidden('OTEL_EXPORTER_OTLP_ENDPOINT')] } }))).toContain(4318);
  });

  it('let the roles that call out ask the configured DNS servers', async () => {
    const servers = { config: { PARLEY_EGRESS_DNS_SERVERS: '10.0.0.10, 10.0.0.11:5353, 2001:db8::1, [2001:db8::2]:5354' } };
    const asked = (rules: readonly Rule[]): readonly string[] =>
      rules.flatMap(({ ports, to = [] }) =>
        ports
          .filter(({ protocol }) => protocol === 'UDP')
          .flatMap(({ port }) => to.flatMap(({ ipBlock }) => (ipBlock === undefined ? [] : [`${ipBlock.cidr} ${port}`]))),
      );
    expect(asked(await rulesOf('worker', servers))).toEqual([
      '10.0.0.10/32 53',
      '10.0.0.11/32 5353',
      '2001:db8::1/128 53',
      '2001:db8::2/128 5354',
    ]);
    expect(asked(await rulesOf('operator', servers))).toEqual([]);
  });

  it('let `helm test` reach the roles where everything else is refused', async () => {
    const rules = await rulesOf('test', { api: { config: { PARLEY_API_PORT: 9090 } }, voice: { enabled: false } });
    expect(portsOf(rules)).toEqual([53, 53, 8081, 9090, 8082, 8083]);
    const manifests = await render(withValues());
    const { podSelector } = find(manifests, 'NetworkPolicy', 'parley-test')['spec'] as { podSelector: { matchLabels: object } };
    expect(find(manifests, 'Pod', 'parley-test').metadata.labels).toMatchObject(podSelector.matchLabels);
  });

  it('let those alone call the REST API that apiFrom names', async () => {
    const from = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }];
    const callers = async (policy: object): Promise<readonly object[]> => {
      const { spec } = find(await render(withValues({ networkPolicy: policy })), 'NetworkPolicy', 'parley-api');
      return (spec as { ingress: { from: object[] }[] }).ingress.flatMap((rule) => rule.from);
    };
    const release = { podSelector: { matchLabels: { 'app.kubernetes.io/instance': RELEASE, 'app.kubernetes.io/name': 'parley' } } };
    // Every pod may read metrics by default, and they are on the same port.
    expect(await callers({ apiFrom: from })).toEqual([...from, release]);
    const prometheus = [{ podSelector: { matchLabels: { app: 'prometheus' } } }];
    expect(await callers({ apiFrom: from, metricsFrom: prometheus })).toEqual([...from, ...prometheus, release]);
  });
});
