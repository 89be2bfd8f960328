import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import type { BinarySpec } from './binaries/binary-spec.ts';
import { type BinaryProgress, BuildPlan, describeProgress, duration } from './binaries/progress.ts';
import { resolveBinaries } from './binaries/resolve.ts';
import type { Console } from './console.ts';
import { type BinaryName, binarySpec } from './programs.ts';

/** Finds or gets the programs, and reports the progress. The answer lacks optional ones that are not available. */
export async function prepareBinaries(options: {
  readonly names: readonly BinaryName[];
  readonly env: NodeJS.ProcessEnv;
  readonly console: Console;
  readonly signal: AbortSignal;
}): Promise<ReadonlyMap<string, string>> {
  const { console, env, signal } = options;
  const startedAt = performance.now();
  const plan = new BuildPlan();
  const reported = new Set<string>();
  const onProgress = (spec: BinarySpec, progress: BinaryProgress): void => {
    const { phase, note, done = 0, total = 1 } = progress;
    if (note !== undefined && phase === 'waiting' && !reported.has(note)) {
      reported.add(note);
      console.line(`  ${spec.name}: ${note}`);
    }
    if (spec.go !== undefined && (phase === 'queued' || phase === 'listing' || phase === 'building'))
      plan.update(spec.name, spec.go.seconds, phase === 'building' ? done / total : 0);
    if (phase === 'queued') return;
    const all = phase === 'building' ? plan.describe() : '';
    console.status(spec.name, `  ${spec.name} ${spec.version}: ${describeProgress(progress)}${all === '' ? '' : ` [${all}]`}`);
  };
  const found = await resolveBinaries(options.names.map(binarySpec), {
    env,
    signal,
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
