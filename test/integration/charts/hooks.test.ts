/** Helm makes hooks before the rest: a hook that needs something of the rest would wait for it for ever. */
import { describe, expect, it } from 'vitest';

import { ofKind, podsOf, render, type Rendered, withValues } from './helm.ts';

const before = /\bpre-(install|upgrade|rollback)\b/;
const hookOf = ({ metadata }: Rendered): string => metadata.annotations?.['helm.sh/hook'] ?? '';

interface Volume {
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly configMap?: { readonly name: string };
  readonly secret?: { readonly secretName: string };
}

/** Names the objects that a pod can't be made without. */
function references(manifest: Rendered): readonly string[] {
  return podsOf([manifest]).flatMap(({ template: { spec } }) => {
    const names = [`PriorityClass ${String(spec['priorityClassName'])}`, `ServiceAccount ${spec.serviceAccountName}`];
    for (const { persistentVolumeClaim: claim, configMap, secret } of (spec.volumes ?? []) as readonly Volume[])
      names.push(`PersistentVolumeClaim ${claim?.claimName}`, `ConfigMap ${configMap?.name}`, `Secret ${secret?.secretName}`);
    return names;
  });
}

describe('hooks that run before the release is there', () => {
  it.each([
    ['with priority classes', { priorityClasses: { create: true } }],
    ['with files in a volume', { config: { STORAGE_URL: 'file:///data' }, storage: { persistentVolumeClaim: { create: true } } }],
    ['in one namespace', { namespaced: true }],
    ['with everything that is watched', { metrics: { serviceMonitor: { enabled: true }, dashboards: { enabled: true } } }],
  ])('need nothing of it, %s', async (_name, values) => {
    const manifests = await render(withValues({ organizations: [] }, values));
    const later = new Set(manifests.filter((one) => !before.test(hookOf(one))).map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    const early = manifests.filter((one) => before.test(hookOf(one)));
    expect(ofKind(early, 'Job').map(({ metadata }) => metadata.name)).toEqual(['parley-migrate']);
    expect(early.flatMap(references).filter((name) => later.has(name))).toEqual([]);
  });

  it('leave the classes to pods that are made with them, or after them', async () => {
    const manifests = await render(withValues({ organizations: ['acme'], priorityClasses: { create: true } }));
    const classes = Object.fromEntries(podsOf(manifests).map(({ name, template }) => [name, template.spec['priorityClassName']]));
    expect(classes).toMatchObject({
      'Deployment/parley-operator': 'parley-system-parley-api',
      'Deployment/parley-voice': 'parley-system-parley-voice',
      'Deployment/parley-worker': 'parley-system-parley-worker',
      'Job/parley-register': 'parley-system-parley-api',
      'Job/parley-migrate': undefined,
    });
    const annotations = { 'sidecar.istio.io/inject': 'false' };
    const jobs = ofKind(await render(withValues({ organizations: ['acme'], migrations: { podAnnotations: annotations } })), 'Job');
    expect(jobs.map(({ spec }) => (spec as { template: Rendered }).template.metadata.annotations)).toEqual([annotations, annotations]);
    const given = await render(withValues({ defaults: { priorityClassName: 'theirs' }, priorityClasses: { create: true } }));
    for (const { name, template } of podsOf(given)) expect(template.spec['priorityClassName'], name).toBe('theirs');
  });
});
