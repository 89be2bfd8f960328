/** Tests what clients rely on an API server for, and what ResourceClient adds: run it first against a new version of the server. */
import { randomBytes } from 'node:crypto';

import { afterAll, beforeAll, describe } from 'vitest';

import { createTransport, loadKubeConfig, ResourceClient, type KubeObject } from '../../../kube/index.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { applyRules } from './contract/apply.ts';
import type { ContractContext } from './contract/context.ts';
import { extractRules } from './contract/extract.ts';
import { lifecycleRules } from './contract/lifecycle.ts';
import { readRules } from './contract/read.ts';
import { refusalRules } from './contract/refusals.ts';
import { statusRules } from './contract/status.ts';
import { watchRules } from './contract/watch.ts';
import { widgetDefinition, widgetDescriptor, type Widget } from './contract/widget.ts';

const builtIn = {
  ConfigMap: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  Secret: { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
  Namespace: { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
  Lease: { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', namespaced: true },
} as const;

const RULES = {
  reading: readRules,
  applying: applyRules,
  extracting: extractRules,
  refusals: refusalRules,
  status: statusRules,
  lifecycle: lifecycleRules,
  watching: watchRules,
} as const;

describe('API server contract', () => {
  const transport = suiteFixture(async () => createTransport({ kubeConfig: loadKubeConfig({ path: (await controlPlane()).kubeconfig }) }));
  const namespace = `contract-${randomBytes(4).toString('hex')}`;
  let count = 0;
  const context: ContractContext = {
    get transport() {
      return transport;
    },
    namespace,
    widgets: (manager = 'first') => new ResourceClient<Widget>({ transport, descriptor: widgetDescriptor, fieldManager: manager }),
    widget: (spec, metadata = {}) => ({
      apiVersion: 'contract.parley.dev/v1',
      kind: 'Widget',
      metadata: { name: `w-${++count}`, namespace, ...metadata },
      ...(spec === undefined ? {} : { spec }),
    }),
    client: (kind, options = {}) => new ResourceClient({ transport, descriptor: builtIn[kind], fieldManager: 'first', ...options }),
  };

  beforeAll(async () => {
    await transport.request({
      method: 'PATCH',
      path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${widgetDefinition.metadata.name}`,
      query: { fieldManager: 'contract', force: true },
      contentType: 'application/apply-patch+yaml',
      body: widgetDefinition,
    });
    await eventually(() => transport.request({ method: 'GET', path: '/apis/contract.parley.dev/v1/widgets' }));
    await context.client<KubeObject>('Namespace').apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  });
  afterAll(async () => {
    await context
      .client('Namespace')
      .delete({ name: namespace })
      .catch(() => undefined);
  });

  describe.each(Object.entries(RULES))('%s', (_, rules) => {
    rules(context);
  });
});
