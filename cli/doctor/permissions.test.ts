import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';
import { parse } from 'yaml';

import { OLDEST_MINOR } from './cluster.ts';
import { ROLE_NAMES } from '../../platform/role-names.ts';
import { accessOf, questionsOf } from './permissions.ts';

const places = { organizations: ['acme', 'globex'], leaseNamespace: 'parley-system' };
const secret = { verb: 'get', group: '', resource: 'secrets' };

it('asks about an organisation where it is, and about the Lease where that is', () => {
  expect(questionsOf(accessOf('voice'), places)).toEqual([
    { ...secret, namespace: 'acme' },
    { ...secret, namespace: 'globex' },
  ]);
  expect(questionsOf(accessOf('operator'), { ...places, leaseNamespace: 'calls' })).toContainEqual({
    namespace: 'calls',
    verb: 'update',
    group: 'coordination.k8s.io',
    resource: 'leases',
    name: 'parley-operator',
  });
});

it('asks about nothing beyond the namespace of an installation that has but one', () => {
  for (const audience of [...ROLE_NAMES, 'installer'] as const) {
    const questions = questionsOf(accessOf(audience), { ...places, namespace: 'solo', leaseNamespace: 'solo' });
    expect(questions.filter(({ namespace }) => namespace !== 'solo')).toEqual([]);
    expect(questions.map(({ resource }) => resource)).not.toContain('namespaces');
    expect(questions).toContainEqual({ ...secret, namespace: 'solo' });
  }
});

it('asks about all that is granted, everywhere, for the installer', () => {
  const asked = questionsOf(accessOf('installer'), { ...places, organizations: [] });
  for (const role of ROLE_NAMES) {
    for (const { place, ...access } of accessOf(role)) {
      const wanted = place === 'lease' ? { namespace: 'parley-system', ...access } : access;
      expect(asked, role).toContainEqual(wanted);
    }
  }
});

it('wants the Kubernetes that the chart wants', () => {
  const chart = parse(readFileSync(new URL('../../charts/parley/Chart.yaml', import.meta.url), 'utf8')) as { readonly kubeVersion: string };
  expect(chart.kubeVersion).toBe(`>=1.${OLDEST_MINOR}.0-0`);
  const page = readFileSync(new URL('../../docs/operations/troubleshooting.md', import.meta.url), 'utf8');
  expect(page).toContain(`older than 1.${OLDEST_MINOR},`);
});
