/** `parley dev --provider`: keys, checks, the switch of the example agent, and what to type next. */
import { PART_NAMES, type ProviderPart } from '../../calls/provider-access/index.ts';
import type { AskSecret } from './read-keys.ts';
import type { StackEnv } from '../../local-stack/env-file.ts';
import { EXAMPLE_AGENT } from '../../local-stack/first-start.ts';
import { allowedNetworks } from '../../local-stack/stack.ts';
import { awakeClock } from '../../platform/clock.ts';
import { loadConfig } from '../../platform/config/config.ts';
import { egressOf } from '../../platform/egress/egress-of.ts';
import { INSTALLATION } from '../../platform/egress/egress.ts';
import { UserError } from '../../platform/user-error.ts';
import { withCluster } from '../cluster/connect.ts';
import { knownProvider, OFFLINE, PARTS, type ProviderName } from './catalogue.ts';
import { checkPart, type CheckedPart } from './check-part.ts';
import type { ChosenPart, ProviderChoice } from './choose-parts.ts';
import type { PartProblem } from './explain-refusal.ts';
import { readKeys, type ProviderKey } from './read-keys.ts';
import { SPEC_FIELDS, switchToProviders, switchToRobot, type Switched, type SwitchOptions } from './switch-agent.ts';

interface UseProvidersOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly ask: AskSecret;
  readonly out: { write(text: string): unknown };
}

/** Switches the agent of a stack that is up. */
export type UseProviders = (stack: Pick<StackEnv, 'KUBECONFIG' | 'PARLEY_ORG' | 'PARLEY_CALL_URL' | 'PARLEY_BIN'>) => Promise<void>;

/** Reads and checks the keys, before a stack is started for them. @throws UserError where a provider can't be used at all */
export async function prepareProviders(choice: ProviderChoice, options: UseProvidersOptions): Promise<UseProviders> {
  if (choice === OFFLINE) return switchWith(switchToRobot, options);
  const keys = await readKeys([...new Set(choice.map(({ name }) => name))], options);
  const parts = await checkParts(choice, keys, options);
  return switchWith((at) => switchToProviders(parts, keys, at), options);
}

const isChecked = (result: CheckedPart | PartProblem): result is CheckedPart => 'tookMs' in result;

/** These are about one part of an account, which may well be used without it; all others are reasons to change nothing. */
const leavesOthers = ({ kind }: PartProblem, part: ProviderPart): boolean =>
  kind === 'permission' || kind === 'absent' || (kind === 'model' && part !== 'llm');

/** The guard is that of the stack, so that an address which calls may not use is found out here. */
const egressVariables = (env: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('PARLEY_EGRESS_')));

async function checkParts(
  choice: readonly ChosenPart[],
  keys: ReadonlyMap<ProviderName, ProviderKey>,
  { env, out }: UseProvidersOptions,
): Promise<readonly CheckedPart[]> {
  const clock = awakeClock;
  const guard = egressOf(loadConfig({ ...egressVariables(env), PARLEY_EGRESS_ALLOW_CIDRS: allowedNetworks(env) }));
  const egress = guard.for(INSTALLATION);
  try {
    const results = await Promise.all(
      choice.map(async (chosen) => ({ chosen, result: await checkPart(chosen, { key: keys.get(chosen.name), egress, clock, env }) })),
    );
    const failed = [...Map.groupBy(results, ({ chosen }) => chosen.name).values()].flatMap((all) => {
      const problems = all.flatMap(({ result, chosen: { part } }) => (isChecked(result) ? [] : [{ problem: result, part }]));
      const stays = problems.length < all.length && problems.every(({ problem, part }) => leavesOthers(problem, part));
      return stays ? [] : [problems.map(({ problem }) => problem)];
    });
    if (failed.length > 0) throw unusable(failed);
    for (const { result, chosen } of results) out.write(isChecked(result) ? checkedLine(result) : problemLines(result, chosen));
    return results.flatMap(({ result }) => (isChecked(result) ? [result] : []));
  } finally {
    guard.close();
  }
}

const checkedLine = ({ name, part, model, tookMs }: CheckedPart): string =>
  `✓ ${knownProvider(name).title}: ${PART_NAMES[part]}${model === undefined ? '' : ` ${model}`} answers (${(tookMs / 1000).toFixed(1)} s)\n`;

const problemLines = ({ message, cure }: PartProblem, { part }: ChosenPart): string =>
  `! ${message}; the ${PART_NAMES[part]} of ${EXAMPLE_AGENT} stays as it is\n    → ${cure}\n`;

/** @param providers the problems of each provider; one that all its parts have is said once */
function unusable(providers: readonly (readonly PartProblem[])[]): UserError {
  const problems = providers.flatMap((all) => all.filter(({ kind }, at) => all.findIndex((other) => other.kind === kind) === at));
  const [only, another] = problems;
  if (only !== undefined && another === undefined) return new UserError(only.message, { cure: only.cure });
  return new UserError(`nothing was changed:\n${problems.map(({ message, cure }) => `    ${message}\n      → ${cure}`).join('\n')}`, {
    cure: 'correct these, and run the command again',
  });
}

function switchWith(change: (at: SwitchOptions) => Promise<Switched>, { out }: UseProvidersOptions): UseProviders {
  return async (stack) => {
    const forbiddenCure = 'use the kubeconfig of the local stack';
    const { spec, changedKeys } = await withCluster(
      { path: stack.KUBECONFIG, forbiddenCure, unreachableCure: 'parley dev status shows whether the stack is up' },
      ({ transport }) => change({ transport, org: stack.PARLEY_ORG, clock: awakeClock }),
    );
    out.write(describeSwitched(spec, stack));
    if (changedKeys.length > 0) out.write(`\nCalls may use the former key of ${changedKeys.join(', ')} for another minute.\n`);
  };
}

/** Says what the agent uses, and what to type. Without an address of its own the local stack replaces a part's provider by the robot. */
export function describeSwitched(spec: Switched['spec'], stack: Pick<StackEnv, 'PARLEY_CALL_URL' | 'PARLEY_BIN'>): string {
  const parts = PARTS.map((part) => {
    const { provider, model, baseURL } = spec[SPEC_FIELDS[part]];
    return {
      part,
      text: baseURL === undefined ? 'offline: the robot of this machine' : [provider, model].filter(Boolean).join(' '),
      offline: baseURL === undefined,
    };
  });
  const isOffline = (name: ProviderPart): boolean => parts.some(({ part, offline }) => part === name && offline);
  const anyReal = parts.some(({ offline }) => !offline);
  return [
    '',
    `The agent ${EXAMPLE_AGENT}:`,
    ...parts.map(({ part, text }) => `  ${PART_NAMES[part].padEnd(16)}${text}`),
    ...(isOffline('stt') && !isOffline('llm')
      ? ['', 'The robot understands about fifty phrases: until speech to text is real, too, chat shows best what the agent can do.']
      : []),
    '',
    'Talk to it:',
    `  ${stack.PARLEY_CALL_URL}&agent=${EXAMPLE_AGENT}    in a browser`,
    `  eval "$(${stack.PARLEY_BIN}/parley env)"`,
    `  parley call ${EXAMPLE_AGENT}    with the microphone of this machine; --say "when do you open" without one`,
    // In text the model is asked without the stack, where nothing takes its place.
    ...(isOffline('llm') ? [] : [`  parley chat ${EXAMPLE_AGENT}    in text`]),
    ...(anyReal ? ['', `Back to the robot: parley dev --provider ${OFFLINE}`] : []),
    '',
  ].join('\n');
}
