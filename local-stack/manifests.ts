import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Kubectl } from './kubectl.ts';
import { repositoryRoot } from './repository.ts';

function yamlFiles(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/** Brings the resource definitions and the roles' permissions to this version, and waits until the server serves the kinds. */
export async function installDefinitions(kubectl: Kubectl, signal: AbortSignal): Promise<void> {
  const definitions = yamlFiles(join(repositoryRoot(), 'crds'));
  const files = [...definitions, ...yamlFiles(join(repositoryRoot(), 'local-stack/rbac'))];
  await kubectl.run(
    ['apply', '--server-side', '--force-conflicts', '--field-manager=parley-cli', ...files.map((file) => `--filename=${file}`)],
    { signal },
  );
  await kubectl.run(['wait', '--for=condition=Established', '--timeout=60s', ...definitions.map((file) => `--filename=${file}`)], {
    signal,
  });
}

export interface Examples {
  readonly folder: string;
  /** SHA-256 of their content; undefined when there are none. */
  readonly digest: string | undefined;
}

export function findExamples(): Examples {
  const folder = join(repositoryRoot(), 'examples');
  const files = yamlFiles(folder);
  if (files.length === 0) return { folder, digest: undefined };
  const hash = createHash('sha256');
  for (const file of files) hash.update(file.slice(folder.length)).update(readFileSync(file));
  return { folder, digest: hash.digest('hex') };
}

export async function applyExamples(kubectl: Kubectl, examples: Examples, org: string, signal: AbortSignal): Promise<void> {
  await kubectl.run(['apply', '--server-side', `--namespace=${org}`, `--filename=${examples.folder}`], { signal });
}

interface Listed {
  readonly items: readonly {
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly generation?: number };
    readonly status?: {
      readonly observedGeneration?: number;
      readonly conditions?: readonly {
        readonly type: string;
        readonly status: string;
        readonly reason?: string;
        readonly message?: string;
        readonly observedGeneration?: number;
      }[];
    };
  }[];
}

export interface ResourceState {
  /** `agent/reception`, as one types it. */
  readonly name: string;
  readonly ready: boolean;
  readonly message: string;
}

/** Every Parley resource of the organisation, with what its Ready condition says of the present generation. */
export async function resourceStates(kubectl: Kubectl, org: string, signal: AbortSignal): Promise<readonly ResourceState[]> {
  const { items } = JSON.parse(await kubectl.run(['get', 'parley', `--namespace=${org}`, '--output=json'], { signal })) as Listed;
  return items.map(({ kind, metadata, status }) => {
    const condition = status?.conditions?.find(({ type }) => type === 'Ready');
    const current = condition?.observedGeneration === undefined || condition.observedGeneration === metadata.generation;
    const ready = condition?.status === 'True' && current;
    return {
      name: `${kind.toLowerCase()}/${metadata.name}`,
      ready,
      message:
        condition === undefined || !current ? 'not yet seen by the operator' : `${condition.reason ?? ''}: ${condition.message ?? ''}`,
    };
  });
}
