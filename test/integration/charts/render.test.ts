/** Tests what the chart makes of its values. */
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { repositoryRoot } from '../../../local-stack/repository.ts';
import { chartVariables } from '../../../scripts/generators/chart-values-definition.ts';
import { configEntries, loadConfig } from '../../../platform/config/config.ts';
import { testFolder } from '../../support/folders.ts';
import {
  chart,
  containerOf,
  envOf,
  find,
  helm,
  NAMESPACE,
  ofKind,
  parseManifests,
  podsOf,
  type PodTemplate,
  RELEASE,
  render,
  type Rendered,
  roles,
  withValues,
} from './helm.ts';

const podOf = (manifests: readonly Rendered[], role: string): PodTemplate =>
  find(manifests, 'Deployment', `${RELEASE}-${role}`)['spec'].template as PodTemplate;

const refusal = (values: object): Promise<string> =>
  render(values).then(
    () => 'it was rendered',
    (error: Error) => error.message,
  );

describe('the chart', () => {
  it('passes helm lint, with every value and without warnings', async () => {
    const text = await helm(['lint', chart, '--strict', '--kube-version', '1.34.4'], { values: withValues() });
    expect(text).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  it('can be part of another chart, on a condition', async () => {
    const folder = testFolder();
    const dependencies = [{ name: 'parley', version: '*', condition: 'parley.enabled' }];
    await mkdir(join(folder, 'charts'));
    await symlink(chart, join(folder, 'charts/parley'));
    await writeFile(join(folder, 'Chart.yaml'), stringify({ apiVersion: 'v2', name: 'platform', version: '1.0.0', dependencies }));
    const deployments = async (enabled: boolean): Promise<readonly string[]> => {
      const values = { global: { team: 'phone' }, parley: withValues({ enabled }) };
      const text = await helm(['template', 'platform', folder, '--kube-version', '1.34.4'], { values });
      return ofKind(parseManifests(text), 'Deployment').map(({ metadata }) => metadata.name);
    };
    expect(await deployments(true)).toContain('platform-parley-api');
    expect(await deployments(false)).toEqual([]);
  });

  it('has the version of the program', async () => {
    const { version } = JSON.parse(await readFile(join(repositoryRoot(), 'package.json'), 'utf8')) as { readonly version: string };
    const text = await readFile(join(chart, 'Chart.yaml'), 'utf8');
    expect(text).toContain(`\nversion: ${version}\n`);
    expect(text).toContain(`\nappVersion: ${version}\n`);
  });
});

describe('the configuration', () => {
  it('gives every variable of the schema to every role, as the process reads it', async () => {
    const open = chartVariables().filter(({ secret }) => !secret);
    const config = Object.fromEntries(open.map((entry) => [entry.name, sample(entry.name, entry.schema)]));
    const manifests = await render(withValues({ config, storage: { persistentVolumeClaim: { create: true } } }));
    for (const role of roles) {
      const env = envOf(containerOf(manifests, role)) as Readonly<Record<string, string>>;
      for (const [name, value] of Object.entries(config).filter(([, one]) => one !== ''))
        expect(env[name], `${name} of ${role}`).toBe(typeof value === 'string' ? value : JSON.stringify(value));
    }
    const env = envOf(containerOf(manifests, 'voice'));
    const plain = Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
    expect(() => loadConfig({ ...plain, DATABASE_URL: 'postgres://db/parley' })).not.toThrow();
  });

  it('refuses what the processes would refuse, with its name', async () => {
    await expect(refusal(withValues({ config: { PARLEY_API_PORT: 'many' } }))).resolves.toContain('/config/PARLEY_API_PORT');
    await expect(refusal(withValues({ config: { PARLEY_LOG_LEVEL: 'loud' } }))).resolves.toContain('/config/PARLEY_LOG_LEVEL');
    await expect(refusal(withValues({ config: { PARLEY_LOGLEVEL: 'info' } }))).resolves.toContain('PARLEY_LOGLEVEL');
    await expect(refusal(withValues({ config: { PARLEY_EMBEDDING_PROFILES: [{ name: 'x', provider: 'absent' }] } }))).resolves.toContain(
      'PARLEY_EMBEDDING_PROFILES',
    );
    await expect(refusal(withValues({ worker: { config: { PARLEY_DATABASE_POOL: 0 } } }))).resolves.toContain(
      '/worker/config/PARLEY_DATABASE_POOL',
    );
    await expect(refusal(withValues({ api: { replica: 3 } }))).resolves.toContain("additional properties 'replica' not allowed");
  });

  it('takes a number for a text that is one', async () => {
    const manifests = await render(withValues({ config: { PARLEY_EGRESS_PORTS: 443, OTEL_TRACES_SAMPLER_ARG: 0.1 } }));
    expect(envOf(containerOf(manifests, 'worker'))).toMatchObject({ PARLEY_EGRESS_PORTS: '443', OTEL_TRACES_SAMPLER_ARG: '0.1' });
  });

  it('takes no secret in the open', async () => {
    for (const { name } of configEntries().filter(({ secret }) => secret)) {
      await expect(refusal(withValues({ config: { [name]: 'postgres://user:password@db/parley' } })), name).resolves.toMatch(
        new RegExp(`additional properties '${name}' not allowed`),
      );
    }
  });

  it('takes a variable of a role over that of all, and extraEnv over both', async () => {
    const manifests = await render(
      withValues({
        config: { PARLEY_DATABASE_POOL: 5, PARLEY_LOG_LEVEL: 'warn' },
        worker: { config: { PARLEY_DATABASE_POOL: 7 }, extraEnv: [{ name: 'PARLEY_LOG_LEVEL', value: 'debug' }] },
      }),
    );
    expect(envOf(containerOf(manifests, 'api'))).toMatchObject({ PARLEY_DATABASE_POOL: '5', PARLEY_LOG_LEVEL: 'warn' });
    expect(envOf(containerOf(manifests, 'worker'))).toMatchObject({ PARLEY_DATABASE_POOL: '7', PARLEY_LOG_LEVEL: 'debug' });
  });

  it('leaves out what a file of values takes away with null', async () => {
    const token = { PARLEY_METRICS_TOKEN: { name: 'metrics', key: 'token' } };
    const base = { config: { PARLEY_MCP: true, PARLEY_API_PORT: 9000, PARLEY_LOG_LEVEL: 'warn' }, secrets: token };
    const unset = { config: { PARLEY_MCP: null, PARLEY_API_PORT: null, PARLEY_LOG_LEVEL: null }, secrets: { PARLEY_METRICS_TOKEN: null } };
    expect(await render(withValues(base, unset))).toEqual(await render(withValues()));
    await expect(refusal(withValues({ config: { TEMPORAL_ADDRESS: null } }))).resolves.toContain('There is no Temporal');
  });

  it('hands a secret to the roles that are named only', async () => {
    const manifests = await render(
      withValues({ secrets: { OPENAI_API_KEY: { name: 'models', key: 'openai', roles: ['voice', 'worker'] } } }),
    );
    const holders = roles.filter((role) => 'OPENAI_API_KEY' in envOf(containerOf(manifests, role)));
    expect(holders).toEqual(['worker', 'voice']);
    expect(envOf(containerOf(manifests, 'voice'))['OPENAI_API_KEY']).toEqual({ secretKeyRef: { name: 'models', key: 'openai' } });
  });

  it('gives the Jobs the database and nothing else that is secret, whichever roles have it', async () => {
    const manifests = await render(withValues({ organizations: ['acme'], secrets: { DATABASE_URL: { roles } } }));
    expect(ofKind(manifests, 'Job')).toHaveLength(2);
    for (const job of ofKind(manifests, 'Job')) {
      const [container] = (job['spec'].template as PodTemplate).spec.containers;
      expect(Object.keys(envOf(container!)).toSorted(), job.metadata.name).toEqual(['DATABASE_URL', 'HOME']);
      expect((job['spec'].template as PodTemplate).spec.automountServiceAccountToken).toBe(false);
    }
  });
});

it.each([
  ['serviceMonitor', 'ServiceMonitor', 'endpoints'],
  ['podMonitor', 'PodMonitor', 'podMetricsEndpoints'],
])('metrics.%s shows the token to the roles that ask for it', async (value, kind, endpoints) => {
  const authorizations = async (values: object): Promise<Record<string, unknown>> => {
    const monitors = ofKind(await render(withValues({ metrics: { [value]: { enabled: true } } }, values)), kind);
    return Object.fromEntries(
      monitors.map(({ metadata, spec }) => [
        metadata.name.replace(`${RELEASE}-`, ''),
        (spec as Record<string, readonly { authorization?: unknown }[]>)[endpoints]?.[0]?.authorization,
      ]),
    );
  };
  expect(Object.values(await authorizations({}))).toEqual(roles.map(() => undefined));
  const credentials = { name: 'metrics', key: 'token' };
  const shown = { type: 'Bearer', credentials };
  expect(await authorizations({ secrets: { PARLEY_METRICS_TOKEN: credentials } })).toEqual(
    Object.fromEntries(roles.map((role) => [role, shown])),
  );
  const some = await authorizations({ secrets: { PARLEY_METRICS_TOKEN: { ...credentials, roles: ['api'] } } });
  expect([some['api'], some['voice']]).toEqual([shown, undefined]);
});

describe('what can not work', () => {
  it.each([
    [{ secrets: { DATABASE_URL: { name: '' } } }, '--set secrets.DATABASE_URL.name=<Secret>'],
    [{ config: { TEMPORAL_ADDRESS: '' } }, '--set config.TEMPORAL_ADDRESS=<host>:7233'],
    [{ config: { LIVEKIT_URL: '' } }, '--set voice.enabled=false'],
    [{ secrets: { LIVEKIT_API_SECRET: { name: '' } } }, '--set secrets.LIVEKIT_API_SECRET.name=<Secret>'],
    [{ config: { STORAGE_URL: '' } }, '--set storage.persistentVolumeClaim.create=true'],
    [{ config: { PARLEY_API_PORT: 0 } }, 'config.PARLEY_API_PORT is 0'],
    [{ namespaced: true, organizations: ['acme'] }, 'organizations has to be empty'],
    [{ config: { PARLEY_LEADER_ELECTION: false } }, 'operator.replicas=1'],
    [{ voice: { autoscaling: { mode: 'keda' } } }, 'voice.autoscaling.prometheusAddress=http://'],
    [{ metrics: { serviceMonitor: { enabled: true }, podMonitor: { enabled: true } } }, 'Switch one off'],
    [{ api: { autoscaling: { minReplicas: 12 } } }, 'api.autoscaling.maxReplicas is 10'],
    [{ voice: { autoscaling: { mode: 'hpa', minReplicas: 30 } } }, 'voice.autoscaling.maxReplicas is 20'],
    [{ voice: { autoscaling: { mode: 'hpa' }, config: { PARLEY_VOICE_CALLS: 5 } } }, 'voice.autoscaling.targetCallsPerPod below 5'],
    [{ config: { LIVEKIT_API_KEY: 'key' } }, 'LIVEKIT_API_KEY is in config and in secrets'],
    [{ worker: { serviceAccount: { create: false } } }, 'worker.serviceAccount.name'],
    [{ organizations: ['acme', { name: 'acme', labels: { team: 'phone' } }] }, 'organizations names acme twice'],
    [{ organizations: [NAMESPACE] }, `organizations names ${NAMESPACE}, which is the namespace of the release`],
    [{ fullnameOverride: '2nd' }, 'set fullnameOverride'],
    [{ crds: { keeep: true } }, "additional properties 'keeep' not allowed"],
    [{ defaults: { extraEnv: [{ value: 'yes' }] } }, "missing property 'name'"],
    [{ api: { extraEnv: [{ name: 'PORT', value: 80 }] } }, '/extraEnv/0/value'],
    [{ api: { extraEnw: [] } }, "additional properties 'extraEnw' not allowed"],
  ])('%j says what to do', async (values, cure) => {
    await expect(refusal(withValues(values))).resolves.toContain(cure);
  });

  it('says everything that is missing at once', async () => {
    const message = await refusal({});
    for (const name of ['secrets.DATABASE_URL', 'config.TEMPORAL_ADDRESS', 'config.LIVEKIT_URL', 'config.STORAGE_URL'])
      expect(message).toContain(name);
  });
});

describe('what the chart can not see', () => {
  const secret = (name: string) => ({ name, valueFrom: { secretKeyRef: { name: 'all', key: name } } });
  it.each([
    ['a Secret', { secrets: { TEMPORAL_ADDRESS: { name: 'all', key: 'temporal' }, STORAGE_URL: { name: 'all', key: 'storage' } } }],
    ['extraEnv', { defaults: { extraEnv: [secret('TEMPORAL_ADDRESS'), secret('STORAGE_URL')] } }],
    [
      'extraEnv, in the open',
      {
        defaults: {
          extraEnv: [
            { name: 'TEMPORAL_ADDRESS', value: 'temporal:7233' },
            { name: 'STORAGE_URL', value: 's3://bucket' },
          ],
        },
      },
    ],
    ['extraEnvFrom', { defaults: { extraEnvFrom: [{ secretRef: { name: 'all' } }] } }],
  ])('may come from %s', async (_name, values) => {
    const manifests = await render(withValues({ config: { TEMPORAL_ADDRESS: '', STORAGE_URL: '' } }, values));
    expect(find(manifests, 'Deployment', 'parley-api')['spec'].template.spec.volumes).toEqual([expect.objectContaining({ name: 'tmp' })]);
  });

  it('is no folder, unless a volume is given for it', async () => {
    const values = { config: { STORAGE_URL: '' }, defaults: { extraEnvFrom: [{ secretRef: { name: 'all' } }] } };
    const manifests = await render(withValues(values, { storage: { persistentVolumeClaim: { create: true } } }));
    expect(containerOf(manifests, 'api').volumeMounts?.map(({ mountPath }) => mountPath)).toContain('/var/lib/parley/files');
  });
});

describe('the pods', () => {
  it('have the values of their role over the defaults, and its tolerations, environment and volumes in addition', async () => {
    const toleration = (key: string) => ({ key, operator: 'Exists' });
    const spread = { maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' };
    const manifests = await render(
      withValues({
        defaults: {
          replicas: 3,
          nodeSelector: { pool: 'all' },
          tolerations: [toleration('all')],
          extraEnv: [
            { name: 'BOTH', value: 'all' },
            { name: 'ALL', value: 'yes' },
          ],
          podSecurityContext: { runAsUser: 1000 },
          topologySpreadConstraints: [spread],
        },
        worker: {
          replicas: 4,
          nodeSelector: { pool: 'work', disk: 'fast' },
          tolerations: [toleration('own')],
          extraEnv: [{ name: 'BOTH', value: 'own' }],
          podSecurityContext: { fsGroup: 2000 },
          topologySpreadConstraints: [],
        },
      }),
    );
    const [worker, api] = ['worker', 'api'].map((role) => podOf(manifests, role).spec);
    expect(worker).toMatchObject({
      nodeSelector: { pool: 'work', disk: 'fast' },
      tolerations: [toleration('all'), toleration('own')],
      securityContext: { runAsUser: 1000, fsGroup: 2000, runAsNonRoot: true },
    });
    expect(worker?.['topologySpreadConstraints']).toBeUndefined();
    expect(api).toMatchObject({
      nodeSelector: { pool: 'all' },
      tolerations: [toleration('all')],
      securityContext: { runAsUser: 1000, fsGroup: 65_532 },
      topologySpreadConstraints: [spread],
    });
    expect(envOf(containerOf(manifests, 'worker'))).toMatchObject({ BOTH: 'own', ALL: 'yes' });
    const replicas = (role: string): number => find(manifests, 'Deployment', `${RELEASE}-${role}`)['spec'].replicas as number;
    expect([replicas('worker'), replicas('operator')]).toEqual([4, 3]);
  });

  it('gives voice the time of its longest call and a minute more', async () => {
    const usual = await render(withValues());
    expect(podOf(usual, 'voice').spec.terminationGracePeriodSeconds).toBe(7325);
    expect(containerOf(usual, 'voice').lifecycle).toEqual({ preStop: { sleep: { seconds: 5 } } });
    const short = await render(withValues({ voice: { config: { PARLEY_VOICE_DRAIN_MS: 600_500 } } }));
    expect(podOf(short, 'voice').spec.terminationGracePeriodSeconds).toBe(666);
    const patient = await render(withValues({ voice: { preStopSeconds: 300 } }));
    expect(podOf(patient, 'voice').spec.terminationGracePeriodSeconds).toBe(300 + 7260 + 60);
  });

  it('gives the others longer than their orderly stop takes', async () => {
    const manifests = await render(withValues({ config: { PARLEY_SHUTDOWN_TIMEOUT_MS: 40_000 } }));
    for (const role of ['operator', 'api', 'worker', 'dispatcher'])
      expect(podOf(manifests, role).spec.terminationGracePeriodSeconds, role).toBeGreaterThanOrEqual(45);
  });

  it('runs the image by its digest where there is one', async () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    const manifests = await render(
      withValues({ organizations: ['acme'], image: { registry: 'registry.example.com/', repository: 'voice/parley', tag: 'v1', digest } }),
    );
    const images = podsOf(manifests).flatMap(({ template }) => template.spec.containers.map(({ image }) => image));
    expect(new Set(images)).toEqual(new Set([`registry.example.com/voice/parley@${digest}`]));
    expect(images).toHaveLength(8);
  });

  it('leaves the number of pods to an autoscaler', async () => {
    const manifests = await render(withValues({ voice: { autoscaling: { mode: 'hpa', targetCallsPerPod: 8 } } }));
    expect(find(manifests, 'Deployment', 'parley-api')['spec']).not.toHaveProperty('replicas');
    expect(find(manifests, 'Deployment', 'parley-voice')['spec']).not.toHaveProperty('replicas');
    expect(find(manifests, 'Deployment', 'parley-operator')['spec'].replicas).toBe(2);
    expect(find(manifests, 'HorizontalPodAutoscaler', 'parley-voice')['spec'].metrics).toEqual([
      { type: 'Pods', pods: { metric: { name: 'parley_voice_calls' }, target: { type: 'AverageValue', averageValue: '8' } } },
    ]);
  });

  it('keeps files on the shared volume of the roles that use them, and only there', async () => {
    const manifests = await render(
      withValues({ config: { STORAGE_URL: 'file:///data/files' }, storage: { persistentVolumeClaim: { create: true } } }),
    );
    const users = roles.filter((role) => containerOf(manifests, role).volumeMounts?.some(({ mountPath }) => mountPath === '/data/files'));
    expect(users).toEqual(['api', 'worker', 'voice']);
    expect(find(manifests, 'PersistentVolumeClaim', 'parley-files').metadata.annotations).toMatchObject({
      'helm.sh/resource-policy': 'keep',
    });
  });
});

describe('organisations', () => {
  it('are namespaces that stay, with a binding for each role', async () => {
    const manifests = await render(
      withValues({ organizations: ['acme', { name: 'globex', labels: { team: 'phone' } }, { name: 'initech', createNamespace: false }] }),
    );
    expect(
      ofKind(manifests, 'Namespace').map(({ metadata }) => [
        metadata.name,
        metadata.labels?.['parley.dev/organization'],
        metadata.annotations?.['helm.sh/resource-policy'],
      ]),
    ).toEqual([
      ['acme', 'true', 'keep'],
      ['globex', 'true', 'keep'],
    ]);
    for (const organization of ['acme', 'globex', 'initech']) {
      const bound = ofKind(manifests, 'RoleBinding').filter(({ metadata }) => metadata.namespace === organization);
      expect(bound.map(({ roleRef }) => (roleRef as { name: string }).name).toSorted()).toEqual(
        roles.map((role) => `parley-system-parley-organization-${role}`).toSorted(),
      );
    }
    const [container] = (find(manifests, 'Job', 'parley-register')['spec'].template as PodTemplate).spec.containers;
    expect(container?.args).toEqual(['org', 'create', '--no-namespace', 'acme', 'globex', 'initech']);
  });

  it('stay in a cluster that Argo CD looks after, as do the files and the definitions', async () => {
    const option = 'argocd.argoproj.io/sync-options';
    const values = {
      crds: { enabled: true, annotations: { [option]: 'ServerSideApply=true' } },
      config: { STORAGE_URL: 'file:///data' },
      storage: { persistentVolumeClaim: { create: true } },
      organizations: ['acme', { name: 'globex', annotations: { [option]: 'Prune=confirm' } }],
    };
    const manifests = await render(withValues(values, { commonAnnotations: { [option]: 'Replace=false', team: 'phone' } }));
    const kept = manifests.filter(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'] === 'keep');
    expect(new Set(kept.map(({ kind, metadata }) => [kind, metadata.name, metadata.annotations?.[option]].join(' ')))).toEqual(
      new Set([
        ...['agents', 'agenttests', 'knowledgebases', 'phonenumbers', 'tools', 'webhooksubscriptions'].map(
          (name) => `CustomResourceDefinition ${name}.parley.dev Prune=false,Delete=false,ServerSideApply=true`,
        ),
        'Namespace acme Prune=false,Delete=false,Replace=false',
        // Somebody who annotates otherwise knows why.
        'Namespace globex Delete=false,Prune=confirm',
        'PersistentVolumeClaim parley-files Prune=false,Delete=false,Replace=false',
      ]),
    );
    expect(find(manifests, 'Namespace', 'acme').metadata.annotations).toMatchObject({ team: 'phone' });
  });

  it('needs nothing of the cluster when namespaced', async () => {
    const manifests = await render(withValues({ namespaced: true }));
    const kinds = new Set(manifests.map(({ kind }) => kind));
    for (const kind of [
      'ClusterRole',
      'ClusterRoleBinding',
      'Namespace',
      'PriorityClass',
      'CustomResourceDefinition',
      'ValidatingAdmissionPolicy',
    ])
      expect(kinds).not.toContain(kind);
    expect(new Set(manifests.map(({ metadata }) => metadata.namespace))).toEqual(new Set([NAMESPACE]));
    for (const role of roles) expect(envOf(containerOf(manifests, role))['PARLEY_NAMESPACE']).toBe(NAMESPACE);
  });
});

describe('the definitions', () => {
  it('can be installed alone, and stay', async () => {
    const text = await helm(['template', 'crds', join(chart, 'charts/crds'), '--kube-version', '1.34.4']);
    expect(text.match(/^kind: CustomResourceDefinition$/gm)).toHaveLength(6);
    expect(text.match(/helm\.sh\/resource-policy: keep/g)).toHaveLength(6);
    expect(text.match(/app\.kubernetes\.io\/part-of: parley/g)).toHaveLength(6);
    const mistaken = helm(['template', 'crds', join(chart, 'charts/crds')], { values: { keeep: true } });
    await expect(mistaken).rejects.toThrow("additional properties 'keeep' not allowed");
    const bare = await helm(['template', 'crds', join(chart, 'charts/crds'), '--kube-version', '1.34.4'], { values: { keep: false } });
    expect(bare).not.toContain('annotations:');
  });

  it('come with the chart, or not', async () => {
    expect(ofKind(await render(withValues({ crds: { enabled: true } })), 'CustomResourceDefinition')).toHaveLength(6);
    expect(ofKind(await render(withValues()), 'CustomResourceDefinition')).toHaveLength(0);
  });
});

/** Returns a value that the variable may have and that isn't its default. */
function sample(name: string, schema: unknown): unknown {
  const {
    type,
    default: fallback,
    minimum,
    enum: choices,
    pattern,
    format,
  } = schema as {
    format?: string;
    type?: string;
    default?: unknown;
    minimum?: number;
    enum?: readonly string[];
    pattern?: string;
  };
  const special: Readonly<Record<string, unknown>> = {
    // Helm writes the keys of a map in their order.
    PARLEY_EMBEDDING_PROFILES: [{ model: 'bm25', name: 'default', provider: 'lexical' }],
    PARLEY_PROVIDERS: [{ apiKeyEnv: 'OPENAI_API_KEY', name: 'openai' }],
    PARLEY_TRUSTED_PROXIES: '10.0.0.0/8',
    PARLEY_NATIVE_NUMBERS: '+1555*',
    PARLEY_EGRESS_ALLOW_CIDRS: '10.20.0.0/16',
    PARLEY_EGRESS_DNS_SERVERS: '10.0.0.10',
    PARLEY_EGRESS_HOSTS: 'hooks.example.com=10.20.0.1',
    PARLEY_EGRESS_PORTS: '443',
    PARLEY_SMTP_SERVERS: 'example.com=smtp://mail.example.com:587',
    PARLEY_SIP_ALLOWED_ADDRESSES: '203.0.113.0/24',
    STORAGE_URL: 'file:///var/lib/parley/files',
    TEMPORAL_ADDRESS: 'temporal:7233',
    TEMPORAL_TASK_QUEUE: 'other',
    // Two of them may not both lead.
    PARLEY_LEADER_ELECTION: true,
    // The Secrets of the test hold this one.
    LIVEKIT_API_KEY: '',
  };
  if (name in special) return special[name];
  if (choices !== undefined) return choices.find((choice) => choice !== fallback);
  if (type === 'integer') return ((fallback as number | undefined) ?? minimum ?? 0) + 1;
  if (pattern?.includes('wss?') === true) return 'wss://media.example.com';
  if (format === 'uri') return 'https://api.example.com';
  // Only the program knows which other values it may have.
  return fallback ?? '';
}
