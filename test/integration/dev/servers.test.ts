import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

import { controlPlane } from '../../support/control-plane.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { database } from '../../support/postgres.ts';
import { query } from '../../support/sql.ts';
import { temporalAddress } from '../../support/temporal.ts';

const run = promisify(execFile);

test('the shared API server deletes what a deleted owner owned', async () => {
  const { kubectl, kubeconfig } = await controlPlane();
  const kube = async (...args: readonly string[]): Promise<string> => (await run(kubectl, [`--kubeconfig=${kubeconfig}`, ...args])).stdout;
  const namespace = await organizationNamespace();
  await kube('create', 'configmap', 'owner', `--namespace=${namespace}`);
  const uid = (await kube('get', 'configmap', 'owner', `--namespace=${namespace}`, '--output=jsonpath={.metadata.uid}')).trim();
  await kube('create', 'configmap', 'owned', `--namespace=${namespace}`);
  const owners = JSON.stringify({ metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }] } });
  await kube('patch', 'configmap', 'owned', `--namespace=${namespace}`, '--type=merge', `--patch=${owners}`);
  await kube('delete', 'configmap', 'owner', `--namespace=${namespace}`);
  await kube('wait', '--for=delete', 'configmap/owned', `--namespace=${namespace}`, '--timeout=600s');
  expect(await kube('get', 'configmap', 'owned', `--namespace=${namespace}`, '--ignore-not-found')).toBe('');
});

test('a database of its own, with pgvector to be had', async () => {
  const { url, drop } = await database();
  await query(url, 'create extension vector');
  expect(await query(url, `select '[1,2]'::vector <-> '[4,6]'::vector as distance`)).toEqual([{ distance: 5 }]);
  await drop();
});

test('Temporal answers at a loopback address', async () => {
  expect(await temporalAddress()).toMatch(/^127\.0\.0\.1:\d+$/);
});
