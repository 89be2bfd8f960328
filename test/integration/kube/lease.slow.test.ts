/** A killed leader is followed by another one; when that begins is a matter of seconds that pass. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createTransport, LeaderElector, leases, loadKubeConfig, ResourceClient, type Lease, type Transport } from '../../../kube/index.ts';
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
});
