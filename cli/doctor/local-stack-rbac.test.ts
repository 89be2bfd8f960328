import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { ROLE_NAMES } from '../../platform/role-names.ts';
import { accessOf } from './permissions.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly Rule[];
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly name: string }[];
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

const folder = join(import.meta.dirname, '../../local-stack/rbac');
const manifests = readdirSync(folder).flatMap((file) =>
  parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((document) => document.toJS() as Manifest),
);

/** The local stack's roles may do in every namespace what the chart binds in those of organisations. */
it.each(ROLE_NAMES)('lets the %s do what it may in a cluster, and nothing else', (role) => {
  const granted = manifests
    .filter(({ subjects }) => subjects?.some(({ name }) => name === `parley-${role}`))
    .flatMap(({ roleRef }) => manifests.find(({ kind, metadata }) => kind === roleRef?.kind && metadata.name === roleRef.name)?.rules ?? [])
    .flatMap(({ apiGroups, resources, verbs, resourceNames = [''] }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${resource}.${group} ${name}`))),
      ),
    );
  const wanted = accessOf(role).map(({ verb, resource, group, name = '' }) => `${verb} ${resource}.${group} ${name}`);
  expect([...new Set(granted)].toSorted()).toEqual([...new Set(wanted)].toSorted());
});
