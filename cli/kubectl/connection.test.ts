import { expect, it } from 'vitest';

import { withPresetOrganization } from './connection.ts';

it.each([
  { flags: {}, env: { PARLEY_ORG: 'acme' }, namespace: 'acme' },
  { flags: { namespace: 'globex' }, env: { PARLEY_ORG: 'acme' }, namespace: 'globex' },
  { flags: {}, env: { PARLEY_ORG: '' }, namespace: undefined },
  { flags: {}, env: {}, namespace: undefined },
  // What the shell has set is about another cluster.
  { flags: { context: 'prod' }, env: { PARLEY_ORG: 'acme' }, namespace: undefined },
  { flags: { kubeconfig: 'prod.yaml' }, env: { PARLEY_ORG: 'acme' }, namespace: undefined },
])('takes the organisation $namespace for $flags with $env', ({ flags, env, namespace }) => {
  expect(withPresetOrganization(flags, env)).toEqual({ ...flags, ...(namespace !== undefined && { namespace }) });
});
