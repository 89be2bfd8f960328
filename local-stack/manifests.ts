/** Applies the manifests of a local stack with kubectl: resource definitions, the roles' permissions, the examples. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

import { findCondition, type Resource } from '../crds/kind.ts';
import { repositoryRoot } from './repository.ts';

export interface Kubectl {
  /** Runs kubectl and returns its standard output. @throws Error with its standard error */
  run(args: readonly string[], signal?: AbortSignal): Promise<string>;
}

export function kubectlWith({ binary, kubeconfig }: { readonly binary: string; readonly kubeconfig: string }): Kubectl {
  return {
    async run(args, signal) {
      try {
        const { stdout } = await promisify(execFile)(binary, [`--kubeconfig=${kubeconfig}`, ...args], {
          timeout: 120_000,
          // `get` may answer with a large JSON list; the default limit is 1 MB.
          maxBuffer: 256 * 1024 * 1024,
          signal,
        });
        return stdout;
      } catch (error) {
        signal?.throwIfAborted();
        const { stderr } = error as { stderr?: string };
        throw new Error(`kubectl ${args[0]}: ${stderr?.trim() || (error as Error).message}`, { cause: error });
      }
    },
  };
}

function filesIn(folder: string, pattern: RegExp): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => join(folder, name));
}

const MANIFEST = /\.ya?ml$/;

export const filenameFlags = (files: readonly string[]): readonly string[] => files.map((file) => `--filename=${file}`);

/** Brings the resource definitions and the roles' permissions to this version, and waits until the server serves the kinds. */
export async function installDefinitions(kubectl: Kubectl, signal: AbortSignal): Promise<void> {
  const definitions = filenameFlags(filesIn(join(repositoryRoot(), 'crds/generated'), MANIFEST));
  const permissions = filenameFlags(filesIn(join(repositoryRoot(), 'local-stack/rbac'), MANIFEST));
  await kubectl.run(['apply', '--server-side', '--force-conflicts', '--field-manager=parley-cli', ...definitions, ...permissions], signal);
  await kubectl.run(['wait', '--for=condition=Established', '--timeout=60s', ...definitions], signal);
}

export interface ExampleFiles {
  readonly files: readonly string[];
  /** SHA-256 of the files' names and content; undefined when there are no files. */
  readonly digest: string | undefined;
}

/** Lists the example resources, with those that only a local stack can serve. */
export const findExamples = (): ExampleFiles => examplesIn(['examples', 'examples/parley-dev'], MANIFEST, '/');

/** Lists the documents of the example knowledge base. */
export const findExampleDocuments = (): ExampleFiles => examplesIn(['examples/documents'], /./, '');

function examplesIn(folders: readonly string[], pattern: RegExp, prefix: string): ExampleFiles {
  const files = folders.flatMap((folder) => filesIn(join(repositoryRoot(), folder), pattern));
  const hash = createHash('sha256');
  for (const file of files) hash.update(prefix + basename(file)).update(readFileSync(file));
  return { files, digest: files.length === 0 ? undefined : hash.digest('hex') };
}

interface ResourceList {
  readonly items: readonly Resource<unknown>[];
}

interface Readiness {
  /** Kind and name as people type them: `agent/reception`. */
  readonly name: string;
  readonly ready: boolean;
  readonly message: string;
}

/** Returns every Parley resource of the organisation, with what its Ready condition says of the present generation. */
export async function resourceReadiness(kubectl: Kubectl, org: string, signal: AbortSignal): Promise<readonly Readiness[]> {
  const { items } = JSON.parse(await kubectl.run(['get', 'parley', `--namespace=${org}`, '--output=json'], signal)) as ResourceList;
  return items.map((item) => {
    const condition = findCondition(item, 'Ready');
    const current = condition?.observedGeneration === item.metadata.generation;
    return {
      name: `${item.kind.toLowerCase()}/${item.metadata.name}`,
      ready: condition?.status === 'True' && current,
      message: condition === undefined || !current ? 'not yet seen by the operator' : `${condition.reason}: ${condition.message}`,
    };
  });
}
