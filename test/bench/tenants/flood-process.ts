/** One flood in a process of its own, until it is killed: what it takes to send must not slow the one who measures. */
import { run } from '../../support/run.ts';
import { parley } from '../../support/stack.ts';
import { floods, type Attacker } from './floods.ts';

/** What the flood is given, as JSON. */
export interface FloodTask extends Omit<Attacker, 'signal' | 'emit'> {
  readonly flood: string;
  /** Of `parley events emit`. */
  readonly org: string;
  readonly env: Readonly<Record<string, string>>;
}

const { flood, org, env, ...attacker } = JSON.parse(process.argv[2] ?? '') as FloodTask;
const emit = (count: number) =>
  run(parley, ['events', 'emit', '--org', org, '--name', 'CallHandler.CallEnded', '--agent', attacker.agent, '--count', String(count)], {
    env,
  });
await floods[flood]?.({ ...attacker, emit, signal: new AbortController().signal });
