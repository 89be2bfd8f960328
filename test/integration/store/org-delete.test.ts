/** Runs `parley org delete` against real servers and without an operator. */
import { randomBytes } from 'node:crypto';

import { beforeAll, expect, it } from 'vitest';

import { deleteResources } from '../../../cli/organization/delete-resources.ts';
import { createTransport, loadKubeConfig } from '../../../kube/index.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { suiteFolder } from '../../support/folders.ts';
import { parleyHere } from '../../support/parley-command.ts';
import { database } from '../../support/postgres.ts';
import { run, type Finished } from '../../support/run.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { storeAt } from './support.ts';

const storage = suiteFolder();
let env: Readonly<Record<string, string>>;
let kubectl: (args: readonly string[], input?: string) => Promise<Finished>;
beforeAll(async () => {
  const [{ url }, { kubeconfig, kubectl: binary }, temporal] = await Promise.all([database(), controlPlane(), temporalAddress()]);
  env = { DATABASE_URL: url, KUBECONFIG: kubeconfig, TEMPORAL_ADDRESS: temporal, STORAGE_URL: `file://${storage}` };
  kubectl = (args, input) => run(binary, [`--kubeconfig=${kubeconfig}`, ...args], input === undefined ? {} : { input });
  await parley('migrate');
});

const parley = (...args: readonly string[]): Promise<Finished> => parleyHere(args, env);

async function anOrganization(finalizer: string): Promise<string> {
  const org = `left-${randomBytes(4).toString('hex')}`;
  await parley('org', 'create', org);
  const tool = {
    apiVersion: 'parley.dev/v1beta1',
    kind: 'Tool',
    metadata: { name: 'held', namespace: org, finalizers: [finalizer] },
    spec: { type: 'TransferCall', transferCall: { to: '+15550100' } },
  };
  const applied = await kubectl(['apply', '--filename=-'], JSON.stringify(tool));
  expect(applied.code, applied.stderr).toBe(0);
  return org;
}

it('erases all that it can where somebody holds a resource, and says who and what to do', async () => {
  const org = await anOrganization('evil.example/hold');
  const store = storeAt(env['DATABASE_URL'] ?? '');
  const number = '+15550100999';
  await store.numberClaims.claim({ org, uid: 'uid', number }, { reservedMs: 0 });
  await store.numberClaims.release({ org, uid: 'uid', number });
  const { apiKey } = await store.apiKeys.create({ org, name: 'n', permissions: ['*'], expirationDays: 1 });

  const { code, stderr, stdout } = await parley('org', 'delete', org, '--confirm', org);
  expect([code, stdout], stderr).toEqual([1, expect.not.stringContaining('is removed')]);
  expect(stderr).toContain(`Tool held is held by evil.example/hold; everything else of "${org}" is deleted`);
  expect(await store.organizations.get(org)).toBeUndefined();
  expect(await store.numberClaims.get(number, { reservedMs: 0 })).toBeUndefined();
  expect(await store.apiKeys.authenticate(apiKey)).not.toMatchObject({ outcome: 'ok' });

  const cure = /kubectl (patch .*)$/m.exec(stderr)?.[1] ?? '';
  expect((await kubectl(cure.replaceAll("'", '').split(' '))).code).toBe(0);
  expect((await parley('org', 'delete', org, '--confirm', org)).stderr).toContain('there is no organisation');
});

it('says that the namespace stays, unless that goes, too', async () => {
  const org = `left-${randomBytes(4).toString('hex')}`;
  await parley('org', 'create', org);
  const { code, stdout, stderr } = await parley('org', 'delete', org, '--confirm', org);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain(`organisation ${org} is removed; its namespace stays, without the label`);
  expect((await kubectl(['get', 'namespace', org, '--output=jsonpath={.metadata.labels}'])).stdout).not.toContain('parley.dev');
});

it('waits three minutes for the operator, and says for what', async () => {
  const org = await anOrganization('parley.dev/finalizer');
  const transport = createTransport({ kubeConfig: loadKubeConfig({ path: env['KUBECONFIG'] ?? '' }) });
  const clock = new FakeClock();
  const lines: string[] = [];
  let released: boolean | undefined;
  const deleting = deleteResources({ org, transport, clock, onProgress: (line) => lines.push(line) }).then((all) => (released = all));
  for (let seconds = 0; released === undefined && seconds < 300; seconds += 10) {
    await eventually(() => expect(released !== undefined || clock.timers === 1).toBe(true));
    if (released === undefined) clock.tick(10_000);
  }
  await deleting;
  expect([released, clock.monotonic()]).toEqual([false, 180_000]);
  expect(lines.slice(0, 2)).toEqual(['1 resource is being deleted', 'waiting for the operator to release Tool held (10 s of 180 s)']);
  expect(lines).toHaveLength(18);
  await transport.close();
});
