import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { Clock } from '../../platform/clock.ts';
import { Redactor, type RedactorOptions } from './redactor.ts';

type RedactingAgent = Pick<AgentRevisionConfig['agent'], 'language' | 'redaction'>;

/**
 * Creates the redactor of a call, or of what came of it.
 * @param agents all that talk in it: what one of them wants taken out is taken out of all
 * @returns undefined where no agent wants anything taken out
 */
export function createRedactor(
  agents: readonly RedactingAgent[],
  { clock, onRedaction }: { readonly clock: Pick<Clock, 'now'> } & Pick<RedactorOptions, 'onRedaction'>,
): Redactor | undefined {
  const specs = agents.flatMap(({ redaction }) => redaction ?? []);
  const [{ language } = { language: 'en' }] = agents;
  if (specs.length === 0) return undefined;
  const kinds = [...new Set(specs.flatMap((spec) => spec.kinds ?? []))];
  const patterns = specs.flatMap((spec) => spec.patterns ?? []);
  return new Redactor({ spec: { kinds, patterns }, language, thisYear: new Date(clock.now()).getUTCFullYear(), onRedaction });
}
