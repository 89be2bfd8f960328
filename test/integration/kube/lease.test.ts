import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  createTransport,
  KubeError,
  LeaderElector,
  leases,
  loadKubeConfig,
  ResourceClient,
  type Lease,
  type Transport,
} from '../../../kube/index.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { organizationNamespace } from '../../support/namespace.ts';

const candidateFile = fileURLToPath(new URL('candidate.ts', import.meta.url));

describe('leader election on a real API server', () => {
  let kubeconfig: string;
  let transport: Transport;
  let client: ResourceClient<Lease>;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    ({ kubeconfig } = await controlPlane());
    transport = createTransport({ kubeConfig: loadKubeConfig({ path: kubeconfig }) });
    client = new ResourceClient<Lease>({ transport, descriptor: leases, fieldManager: 'lease-test' });
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await transport.close();
  });

  const candidate = (namespace: string, identity: string): { readonly child: ChildProcess; readonly said: () => string } => {
    const child = spawn(process.execPath, [candidateFile, kubeconfig, namespace, identity], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    return { child, said: () => output };
  };
  const lead = (
    namespace: string,
    identity: string,
    stop: AbortController,
  ): { readonly started: Promise<Lease>; readonly running: Promise<void> } => {
    const started = Promise.withResolvers<Lease>();
    const running = new LeaderElector({ client, namespace, name: 'election', identity }).run({
      signal: stop.signal,
      onStarted: async (signal) => {
        started.resolve(await client.get({ namespace, name: 'election' }));
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      },
    });
    return { started: started.promise, running };
  };

  it('hands over after a kill when the lease has run out, not before, and to one only', async () => {
    const namespace = await organizationNamespace('lease');
    const first = candidate(namespace, 'first');
    await eventually(() => expect(first.said()).toBe('leading\n'));
    const stop = new AbortController();
    const second = lead(namespace, 'second', stop);
    let early = false;
    void second.started.then(() => (early = true));
    // Some renewals go by: the candidate sees a holder that is alive.
    const seen = await client.get({ namespace, name: 'election' });
    await eventually(async () =>
      expect((await client.get({ namespace, name: 'election' })).spec?.renewTime).not.toBe(seen.spec?.renewTime),
    );
    expect(early).toBe(false);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const last = await client.get({ namespace, name: 'election' });
    expect(last.spec).toMatchObject({ holderIdentity: 'first', leaseDurationSeconds: 15, leaseTransitions: 0 });
    const taken = await second.started;
    expect(taken.spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
    // Both times are this machine's: the new term begins after the old one has run out on every clock.
    expect(Date.parse(taken.spec?.acquireTime ?? '')).toBeGreaterThanOrEqual(Date.parse(last.spec?.renewTime ?? '') + 15_000);
    stop.abort();
    await second.running;
    expect((await client.get({ namespace, name: 'election' })).spec?.holderIdentity).toBe('');
  });

  it('hands over a released lease while it would still have held, after the old leader has stopped', async () => {
    const namespace = await organizationNamespace('lease');
    const first = candidate(namespace, 'first');
    await eventually(() => expect(first.said()).toBe('leading\n'));
    const stop = new AbortController();
    const second = lead(namespace, 'second', stop);
    first.child.kill('SIGTERM');
    await once(first.child, 'exit');
    expect(first.said()).toBe('leading\nstopped\n');
    const released = await client.get({ namespace, name: 'election' });
    const taken = await second.started;
    expect(taken.spec).toMatchObject({ holderIdentity: 'second', leaseDurationSeconds: 15, leaseTransitions: 1 });
    expect(Date.parse(taken.spec?.acquireTime ?? '')).toBeLessThan(Date.parse(released.spec?.renewTime ?? '') + 15_000);
    stop.abort();
    await second.running;
  });

  it('lets one of ten that begin at once lead', async () => {
    const namespace = await organizationNamespace('lease');
    const stop = new AbortController();
    const leading: string[] = [];
    const running = Array.from({ length: 10 }, (_, n) =>
      new LeaderElector({ client, namespace, name: 'election', identity: `c${n}` }).run({
        signal: stop.signal,
        onStarted: async (signal) => {
          leading.push(`c${n}`);
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        },
      }),
    );
    await eventually(() => expect(leading).toHaveLength(1));
    const { spec } = await client.get({ namespace, name: 'election' });
    await eventually(async () => expect((await client.get({ namespace, name: 'election' })).spec?.renewTime).not.toBe(spec?.renewTime));
    expect(leading).toEqual([spec?.holderIdentity]);
    stop.abort();
    await Promise.all(running);
  });

  it('learns from the server that a record was changed under it', async () => {
    const namespace = await organizationNamespace('lease');
    const made = await client.create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace, name: 'election' },
      spec: { holderIdentity: 'x', leaseDurationSeconds: 15 },
    });
    await client.update({ ...made, spec: { ...made.spec, holderIdentity: '' } });
    const late = client.update({ ...made, spec: { ...made.spec, holderIdentity: 'y' } });
    await expect(late).rejects.toSatisfy((error) => error instanceof KubeError && error.staleConflict);
  });
});
