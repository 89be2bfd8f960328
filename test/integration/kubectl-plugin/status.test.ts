import { beforeAll, describe, expect, it } from 'vitest';

import { anAgent, aTool } from '../../support/builders.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { condition, deployment, grant, pod, startPlugin, type PluginObject } from './plugin.ts';

const plugin = suiteFixture(startPlugin);
let org: string;
let system: string;

beforeAll(async () => {
  [org, system] = await Promise.all([organizationNamespace('status'), organizationNamespace('system')]);
  const ready = { observedGeneration: 1, conditions: [condition('Ready', 'True', 'Available')] };
  await plugin.put({ ...anAgent('reception', org), status: ready }, deployment('operator', system), deployment('api', system));
});

const status = (...args: readonly string[]) => plugin.parley(['status', '-n', org, '--system-namespace', system, ...args]);

function lease(renewed: Date): PluginObject {
  const spec = { holderIdentity: 'parley-operator-0', leaseDurationSeconds: 15, renewTime: renewed.toISOString().replace('Z', '000Z') };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'parley-operator', namespace: system }, spec };
}

describe('kubectl parley', () => {
  it('is found by kubectl, has a help, and a version', async () => {
    const list = await plugin.kubectl(['plugin', 'list']);
    expect(list.stdout).toContain(`${plugin.bin}/kubectl-parley`);
    expect(list.stderr).not.toContain('warning');
    const help = await plugin.kubectl(['parley', '--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain('Usage: kubectl parley');
    for (const name of ['status', 'explain', 'logs', 'calls', 'report']) expect(help.stdout).toMatch(new RegExp(`^ +${name}\\b`, 'm'));
    expect((await plugin.kubectl(['parley', '--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('says what is not allowed on its command line', async () => {
    for (const args of [['nonsense'], ['logs', 'a', '--since', 'yesterday']]) {
      const answer = await plugin.kubectl(['parley', ...args]);
      expect(answer.code, args.join(' ')).not.toBe(0);
      expect(answer.stderr, args.join(' ')).toMatch(/^(error|kubectl parley): /);
      expect(answer.stdout).toBe('');
    }
  });
});

describe('kubectl parley status', () => {
  it('is one screen, without colours, and 0 when all is ready; 1 when an operator is missing, silent, or a pod not ready', async () => {
    const without = await status();
    expect(without).toMatchObject({ code: 1, stderr: '' });
    expect(without.stdout).toContain('✗ operator: NoLeader: no operator is running');

    await plugin.put(lease(new Date(Date.now() - 3_600_000)));
    expect((await status()).stdout).toContain('✗ operator: Silent: parley-operator-0');

    await plugin.put(lease(new Date(Date.now() + 3_600_000)));
    const good = await status();
    expect(good).toMatchObject({ code: 0, stderr: '' });
    expect(good.stdout).toContain('everything that can be seen is ready');
    expect(good.stdout).toContain(`Namespace   ${org} (an organisation)`);
    expect(good.stdout).toMatch(/operator +1\/1 +1 +0\.1\.0 /);
    expect(good.stdout).toMatch(/^Definitions 6 kinds, v1beta1 as in \d/m);
    expect(good.stdout).toMatch(/^agents: 1 ready, 0 not ready, 0 stalled$/m);
    expect(good.stdout).not.toContain('\u001B');
    expect(good.stdout.split('\n').length).toBeLessThan(40);

    await plugin.put(
      deployment('voice', system, { ready: 0 }),
      pod('voice', system, { ready: false, waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image' } }),
    );
    const bad = await status();
    expect(bad.code).toBe(1);
    expect(bad.stdout).toMatch(/voice +0\/1 .*ImagePullBackOff/);
    expect(bad.stdout).toMatch(/✗ deployment .*\/parley-voice: ImagePullBackOff: .*Back-off pulling image\n +→ check image\.repository/);
    await plugin.put(deployment('voice', system));
  });

  it('distinguishes a missing namespace from one that is no organisation', async () => {
    const missing = await plugin.parley(['status', '-n', `${org}-x`, '--system-namespace', system]);
    expect(missing.code).toBe(1);
    expect(missing.stdout).toContain(`✗ namespace ${org}-x: NotFound: there is no such namespace`);
    expect(missing.stdout).not.toContain('not an organisation');
    const other = await plugin.parley(['status', '-n', 'default', '--system-namespace', system]);
    expect(other.stdout).toContain('Namespace   default (not an organisation)');
    expect(other.stdout).not.toContain('no such namespace');
  });

  it('lists what is stalled and what waits, with reason, message, age and cure', async () => {
    const failing = await organizationNamespace('failing');
    const message = `Secret ${failing}/keys does not exist`;
    const stalled = [
      condition('Ready', 'False', 'InvalidTimeZone', '"Mars/Base" is not an IANA time zone'),
      condition('Stalled', 'True', 'InvalidTimeZone'),
    ];
    await plugin.put(
      {
        ...anAgent('waits', failing),
        status: { observedGeneration: 1, conditions: [condition('Ready', 'False', 'SecretNotFound', message)] },
      },
      { ...anAgent('typo', failing), status: { observedGeneration: 1, conditions: stalled } },
      { ...anAgent('sleeps', failing, { suspend: true }) },
      { ...aTool('unseen', failing) },
    );
    const answer = await plugin.parley(['status', '-n', failing, '--system-namespace', system]);
    expect(answer.code).toBe(1);
    expect(answer.stdout).toMatch(/^agents: 0 ready, 1 not ready, 1 stalled, 1 suspended$/m);
    expect(answer.stdout).toMatch(/typo +stalled +InvalidTimeZone +\d+[smhd] +"Mars\/Base" is not an IANA time zone/);
    expect(answer.stdout).toContain(`✗ agent/waits: SecretNotFound: ${message}\n      → `);
    expect(answer.stdout).toMatch(/unseen +not ready +NotObserved/);

    const json = JSON.parse((await plugin.parley(['status', '-n', failing, '--system-namespace', system, '-o', 'json'])).stdout) as {
      ready: boolean;
      kinds: { kind: string; resources: { name: string; state: string; cure?: string }[] }[];
    };
    expect(json.ready).toBe(false);
    const states = Object.fromEntries(json.kinds.flatMap(({ resources }) => resources.map(({ name, state }) => [name, state])));
    expect(states).toEqual({ waits: 'not ready', typo: 'stalled', sleeps: 'suspended', unseen: 'not ready' });
    expect((await plugin.parley(['status', '-n', failing, '--system-namespace', system, '-o', 'yaml'])).stdout).toMatch(/^ready: false$/m);
    const wide = await plugin.parley(['status', '-A', '--system-namespace', system, '-o', 'wide']);
    expect(wide.stdout).toMatch(new RegExp(`NAMESPACE +NAME +STATE[\\s\\S]*${failing} +typo +stalled`));
    expect(wide.stdout).toMatch(new RegExp(`agent/typo -n ${failing}`));
  });

  it('is of use to somebody who may see one namespace', async () => {
    const user = `viewer-of-${org}`;
    await plugin.put(...grant(user, org, { apiGroups: ['parley.dev'], resources: ['*'], verbs: ['get', 'list'] }));
    const own = await plugin.parley(['status', '-n', org, '--as', user]);
    expect(own).toMatchObject({ code: 0, stderr: '' });
    expect(own.stdout).toMatch(/^agents: 1 ready/m);
    expect(own.stdout).toContain('you may not list deployments, jobs, pods in all namespaces');

    const kubeconfig = await plugin.kubeconfigIn(org);
    const everywhere = await plugin.parley(['status', '-A', '--as', user, '--kubeconfig', kubeconfig]);
    expect(everywhere).toMatchObject({ code: 0 });
    expect(everywhere.stdout).toContain(`so only the namespace ${org} is shown`);
    expect(everywhere.stdout).toMatch(/^agents: 1 ready/m);

    const foreign = await plugin.parley(['status', '-n', system, '--as', user]);
    expect(foreign.code).toBe(1);
    expect(foreign.stdout).toContain('none of the kinds may be listed');
  });

  it("takes kubectl's way to a cluster: kubeconfig, context, the context's namespace", async () => {
    const kubeconfig = await plugin.kubeconfigIn(org);
    const byContext = await plugin.kubectl(['parley', 'status', '--system-namespace', system], { env: { KUBECONFIG: kubeconfig } });
    expect(byContext.stdout).toContain(`Namespace   ${org} `);
    const unknown = await plugin.parley(['status', '--context', 'nowhere']);
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toMatch(/no context "nowhere"; it has: parley\n +→ /);
    const missing = await plugin.parley(['status', '--kubeconfig', '/nonexistent/config']);
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(missing.stderr).toContain('/nonexistent/config');
  });
});
