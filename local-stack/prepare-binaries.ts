import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { cacheFolder } from './binaries/cache.ts';
import { type BinaryName, type BinarySpec, binarySpec } from './binaries/catalogue.ts';
import { currentPlatform } from './binaries/platform.ts';
import { type BinaryProgress, BuildPlan, describeProgress, duration } from './binaries/progress.ts';
import { resolveBinaries } from './binaries/resolve.ts';
import type { Console } from './console.ts';
import { repositoryRoot } from './repository.ts';

/** Finds or gets the programs, and tells how that goes. Optional ones that are not to be had are missing from the answer. */
export async function prepareBinaries(options: {
  readonly names: readonly BinaryName[];
  readonly env: NodeJS.ProcessEnv;
  readonly console: Console;
  readonly signal: AbortSignal;
}): Promise<ReadonlyMap<BinaryName, string>> {
  const { console } = options;
  const startedAt = performance.now();
  const plan = new BuildPlan();
  const told = new Set<string>();
  const onProgress = (spec: BinarySpec, progress: BinaryProgress): void => {
    if (progress.note !== undefined && progress.phase === 'waiting' && !told.has(progress.note)) {
      told.add(progress.note);
      console.line(`  ${spec.name}: ${progress.note}`);
    }
    if (spec.go !== undefined && (progress.phase === 'queued' || progress.phase === 'listing' || progress.phase === 'building')) {
      plan.update(spec.name, spec.go.seconds, progress.phase === 'building' ? (progress.done ?? 0) / (progress.total ?? 1) : 0);
    }
    if (progress.phase === 'queued') return;
    const all = progress.phase === 'building' ? plan.describe() : '';
    console.status(spec.name, `  ${spec.name} ${spec.version}: ${describeProgress(progress)}${all === '' ? '' : ` [${all}]`}`);
  };
  const found = await resolveBinaries(options.names.map(binarySpec), {
    env: options.env,
    cache: cacheFolder(options.env),
    platform: currentPlatform(),
    tools: join(repositoryRoot(), 'local-stack/modules'),
    signal: options.signal,
    onProgress,
    onMissing: (spec, reasons) => {
      console.status(spec.name, undefined);
      console.line(`! without ${spec.name} ${spec.optional}. ${reasons}`);
    },
    onResolved: ({ spec, source, passedOver }) => {
      console.status(spec.name, undefined);
      if (source === 'PATH' || source === 'cache') return;
      if (spec.go !== undefined && source === 'Go sources') plan.update(spec.name, spec.go.seconds, 1);
      const reasons = passedOver.filter((reason) => reason.startsWith('PATH'));
      console.line(
        `✓ ${spec.name} ${spec.version} from the ${source} after ${duration(performance.now() - startedAt)}${reasons.length === 0 ? '' : ` (${reasons.join('; ')})`}`,
      );
    },
  });
  console.line(`✓ programs: ${found.map(({ spec, source }) => `${spec.name}${source === 'PATH' ? ' (PATH)' : ''}`).join(', ')}`);
  return new Map(found.map(({ spec, path }) => [spec.name, path]));
}

/** Puts the programs that a person uses with the stack into one folder, for PATH. */
export function linkPrograms(folder: string, programs: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, path] of Object.entries(programs)) {
    rmSync(join(folder, name), { force: true });
    symlinkSync(path, join(folder, name));
  }
}
