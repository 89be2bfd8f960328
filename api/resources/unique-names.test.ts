import { expect, it } from 'vitest';

import type { Stored } from '../../kube/types.ts';
import { ApiError } from '../http/api-error.ts';
import type { ResourceWriter } from './resource-writer.ts';
import { updateNamed } from './unique-names.ts';

interface Named {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly name: string };
}

it('a change that is refused after the name is taken leaves the name as it was', async () => {
  let stored = { spec: { name: 'before' } } as unknown as Stored<Named>;
  const written: string[] = [];
  const writer = {
    find: async () => stored,
    async update(_org: string, _name: string, change: (object: Stored<Named>) => Promise<{ spec: Named['spec'] }>) {
      const [previous, wanted] = [stored, await change(stored)];
      stored = { ...stored, ...wanted };
      written.push(stored.spec.name);
      return { object: stored, previous, change: wanted };
    },
  } as unknown as ResourceWriter<Named>;
  const refusal = new ApiError('conflict', 'another field manager has taken a field');
  const request = {
    writer,
    org: 'acme',
    name: 'a',
    to: 'after',
    nameOf: ({ spec }: Stored<Named>) => spec.name,
    withName: (_spec: Named['spec'], name: string) => ({ name }),
    claims: () => [],
    update: async ({ dryRun = false }) => (dryRun ? stored : Promise.reject(refusal)),
  };
  await expect(updateNamed(request, { dryRun: false, force: false })).rejects.toBe(refusal);
  expect(written).toEqual(['after', 'before']);
});
