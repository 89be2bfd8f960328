/** A process of agents in rooms: it hears an utterance, and answers with two seconds of sound. The media is rtc-node's, in this process, or the sidecar's. */
import { once } from 'node:events';
import { json } from 'node:stream/consumers';

import { SAY_RATE, type AgentsPlan } from './plan.ts';
import { answerInProcess } from './rtc-node.ts';
import { answerBySidecar } from './sidecar.ts';

/** A tone, as long as a short answer. */
const answer = Int16Array.from({ length: 2 * SAY_RATE }, (_, at) => 8_000 * Math.sin((2 * Math.PI * 330 * at) / SAY_RATE));

const plan = (await json(process.stdin)) as AgentsPlan;
let answers = 0;
const onUtterance = (): Int16Array => {
  answers += 1;
  return answer;
};
await (plan.sidecar === undefined ? answerInProcess(plan, onUtterance) : answerBySidecar(plan, plan.sidecar, onUtterance));
process.stdout.write('ready\n');
await once(process, 'SIGTERM');
process.stdout.write(`${JSON.stringify({ answers })}\n`, () => process.exit(0));
