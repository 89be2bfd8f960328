/** Reports the state of the resource definitions; of those that may not be read, whether discovery knows them. */
import { GROUP, kinds, VERSION, type KindDefinition } from '../../../crds/index.ts';
import { version as clientVersion } from '../../../platform/version.ts';
import { readDefinition, type DefinitionFacts } from '../../cluster/definitions.ts';
import type { Reader } from '../../cluster/reader.ts';

export interface DefinitionReport extends Pick<DefinitionFacts, 'name' | 'versions' | 'storedVersions'> {
  readonly healthy: boolean;
  /** State in words: `as in 0.1.0`, `differs from 0.1.0`, `established`. */
  readonly state: string;
  readonly cure?: string;
}

export async function reportDefinitions(reader: Reader): Promise<readonly DefinitionReport[]> {
  const definitions = await Promise.all((kinds as readonly KindDefinition[]).map((kind) => readDefinition(reader, kind)));
  const served = definitions.some(({ state }) => state === 'refused') ? await servedNames(reader) : new Set<string>();
  return definitions.map((facts) => reportDefinition(facts, served));
}

/** Every user of the API server may ask what it serves. */
async function servedNames(reader: Reader): Promise<ReadonlySet<string>> {
  const path = `/apis/${GROUP}/${VERSION}`;
  const group = await reader.get<{ readonly resources: readonly { readonly name: string }[] }>(path, `what the group ${GROUP} serves`);
  return new Set(group === 'refused' ? [] : group?.resources.map(({ name }) => `${name}.${GROUP}`));
}

function reportDefinition({ state, message, ...about }: DefinitionFacts, served: ReadonlySet<string>): DefinitionReport {
  const { name } = about;
  const unhealthy = (text: string, cure: string): DefinitionReport => ({ ...about, healthy: false, state: text, cure });
  switch (state) {
    case 'same':
      return { ...about, healthy: true, state: `as in ${clientVersion}` };
    case 'different':
      return { ...about, healthy: true, state: `differs from ${clientVersion}` };
    case 'outdated':
      return unhealthy(`lacks the version ${VERSION}`, 'upgrade the chart or its subchart `crds`');
    case 'unestablished':
      return unhealthy(
        message === undefined ? 'not established yet' : `not established: ${message}`,
        `kubectl describe crd ${name} shows why`,
      );
    default:
      if (served.has(name)) return { name, versions: [VERSION], healthy: true, state: 'served' };
      return unhealthy('not installed', 'install the chart or its subchart `crds`, or: kubectl apply --server-side -f crds/generated/');
  }
}
