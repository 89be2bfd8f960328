/** Applying the same file again must change nothing: GitOps tools do it every few minutes. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { suiteFolder } from '../../support/folders.ts';
import { samples } from './samples.ts';
import { openCluster, type SchemaCluster, type StoredManifest } from './support.ts';

const tool = (agents: readonly string[], rest: object): StoredManifest => ({
  apiVersion: 'parley.dev/v1beta1',
  kind: 'Tool',
  metadata: { name: 'shared' },
  spec: { ...rest, agentRefs: agents.map((name) => ({ name })) },
});

describe('applying the same file again', () => {
  const folder = suiteFolder();

  const sent = samples.map(({ status: _status, ...sample }) => sample);

  async function versions(cluster: SchemaCluster): Promise<Readonly<Record<string, string | undefined>>> {
    const objects = await Promise.all(sent.map((sample): Promise<StoredManifest> => cluster.get(sample.kind, sample.metadata.name)));
    return Object.fromEntries(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object.metadata.resourceVersion]));
  }

  it.each([
    ['server-side', ['apply', '--server-side']],
    ['client-side', ['apply']],
  ])('leaves every resourceVersion as it was: %s', async (mode, command) => {
    const cluster = await openCluster(mode);
    try {
      const file = join(folder, `${mode}.yaml`);
      await writeFile(file, sent.map((sample) => stringify(sample, { version: '1.1' })).join('---\n'));
      // Without an operator the second one stores the default of status.
      for (let time = 0; time < 2; time += 1) await cluster.kubectl([...command, '-f', file]);
      const first = await versions(cluster);
      await cluster.kubectl([...command, '-f', file]);
      expect(await versions(cluster)).toEqual(first);
      await expect(cluster.kubectl(['diff', ...command.slice(1), '-f', file])).resolves.toBe('');
    } finally {
      await cluster.close();
    }
  });

  it('leaves what another manager added to a list by key', async () => {
    const cluster = await openCluster('two-managers');
    try {
      const git = tool(['a'], { type: 'TransferCall', transferCall: { to: '+15550100' } });
      await cluster.apply(git, { manager: 'git' });
      await cluster.apply(tool(['b'], {}), { manager: 'facade' });
      expect((await cluster.apply(git, { manager: 'git' })).spec?.['agentRefs']).toEqual([{ name: 'a' }, { name: 'b' }]);
      expect((await cluster.apply(tool(['c'], {}), { manager: 'facade' })).spec?.['agentRefs']).toEqual([{ name: 'a' }, { name: 'c' }]);
    } finally {
      await cluster.close();
    }
  });
});
