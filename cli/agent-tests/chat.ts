/** `parley chat`: a conversation in the terminal, in text. */
import { access, constants, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { createInterface } from 'node:readline';

import { dynamicDataToBring, missingDynamicData } from '../../calls/call-settings.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { DriverError, type AgentTurn } from '../../agent-tests/driver.ts';
import { spokenLine } from '../../agent-tests/reports/report.ts';
import { TextCall } from '../../agent-tests/text/text-call.ts';
import { agentTestKind } from '../../crds/index.ts';
import { causeOf, UserError } from '../../platform/user-error.ts';
import { ToolMocks } from '../../voice/tools/tool-mocks.ts';
import { checkSpec } from '../agent-files/check-object.ts';
import type { Io } from '../kubectl/io.ts';
import { styleOf } from '../kubectl/style.ts';
import { stringifyYaml } from '../yaml.ts';
import type { ChattedAgent } from './chatted-agent.ts';
import { agentTestOf, type ChatTurn } from './save-as-test.ts';
import type { OpenTextServices } from './text-services.ts';

export interface ChatOptions {
  readonly agent: ChattedAgent;
  readonly open: OpenTextServices;
  readonly dynamicData: Readonly<Record<string, string>>;
  readonly saveAsTest: string | undefined;
  readonly input: NodeJS.ReadableStream;
}

const KEYS = /^\/keys\s+([0-9*#]{1,64})$/;

/** Talks until the agent ends the call, or the input ends. @throws UserError */
export async function chat(
  { agent, open, dynamicData, saveAsTest, input }: ChatOptions,
  io: Pick<Io, 'out' | 'err' | 'env' | 'signal'>,
): Promise<void> {
  if (saveAsTest !== undefined) await expectWritable(saveAsTest);
  const { name, org, namespace, config, others, keys, test } = agent;
  const { services } = open;
  const data = { ...test?.dynamicData, ...dynamicData };
  expectDynamicData(config.agent, data);
  const call = new TextCall({
    services: { ...services, keys },
    org,
    config,
    others,
    dynamicData: data,
    mocks: test && new ToolMocks({ mocks: test.tools ?? [], clock: services.clock }),
  });
  const { weak } = styleOf(io);
  const show = (turn: AgentTurn): boolean => {
    for (const { name: tool, arguments: args, result, error } of turn.toolCalls)
      io.out.write(
        `${weak(spokenLine({ role: 'tool', text: `${tool}(${JSON.stringify(args)})`, atMs: 0, tool: { name: tool, arguments: args, ...(error === undefined ? { result } : { error }) } }))}\n`,
      );
    for (const text of turn.messages) io.out.write(`${spokenLine({ role: 'agent', text, atMs: 0 })}\n`);
    if (turn.failure !== undefined) throw new UserError(`the call failed (${turn.ended}): ${turn.failure}`);
    if (turn.ended !== undefined) io.out.write(`${weak(`the call has ended: ${turn.ended}`)}\n`);
    return turn.ended === undefined;
  };
  const turns: ChatTurn[] = [];
  const lines = createInterface({ input, terminal: false });
  // Keeps lines from now on: they may come before the agent is there.
  const typed = lines[Symbol.asyncIterator]();
  const ask = (): unknown => io.out.isTTY === true && io.out.write('user  │ ');
  const hangUp = (): void => {
    lines.close();
    void call.close();
  };
  io.signal.addEventListener('abort', hangUp, { once: true });
  const saveTurns = async (): Promise<void> => {
    if (saveAsTest !== undefined) await save(saveAsTest, { agent: name, namespace, dynamicData: data, turns }, io);
  };
  try {
    let goesOn = show(await call.start());
    if (goesOn) ask();
    if (goesOn)
      for await (const line of typed) {
        const text = line.trim();
        if (text === '/quit') break;
        if (text !== '') {
          const [, pressed] = KEYS.exec(text) ?? [];
          if (io.out.isTTY !== true) io.out.write(`${spokenLine({ role: 'user', text, atMs: 0 })}\n`);
          const turn = pressed === undefined ? await call.say(text) : await call.press(pressed);
          // The answer was interrupted: the agent may have meant to say more.
          if (io.signal.aborted) break;
          if (turn.failure === undefined) turns.push(pressed === undefined ? { user: text, turn } : { keys: pressed, turn });
          goesOn = show(turn);
          if (!goesOn) break;
        }
        ask();
      }
  } catch (error) {
    const interrupted = io.signal.aborted && error instanceof DriverError;
    // A conversation can't be held a second time.
    if (turns.length > 0 && !interrupted) await saveTurns();
    if (!interrupted) throw error instanceof DriverError ? new UserError(error.message, { cause: error }) : error;
  } finally {
    io.signal.removeEventListener('abort', hangUp);
    lines.close();
    await call.close();
  }
  await saveTurns();
}

/** Refuses a chat without the data that a call needs, too. @throws UserError */
function expectDynamicData(agent: AgentRevisionConfig['agent'], data: Readonly<Record<string, unknown>>): void {
  const missing = missingDynamicData({ requiredDynamicData: dynamicDataToBring(agent) }, data);
  if (missing.length === 0) return;
  throw new UserError(`the agent requires dynamic data: ${missing.join(', ')}`, {
    cure: `add ${missing.map((name) => `--data ${name}=…`).join(' ')}`,
  });
}

async function save(file: string, conversation: Omit<Parameters<typeof agentTestOf>[0], 'name'>, { err }: Pick<Io, 'err'>): Promise<void> {
  if (conversation.turns.length === 0) throw new UserError(`nothing was said: ${file} is not written`);
  const name =
    basename(file)
      .replace(/\.ya?ml$/, '')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'saved';
  const test = agentTestOf({ ...conversation, name });
  await writeFile(file, stringifyYaml(test), { flag: 'wx' }).catch((cause: NodeJS.ErrnoException) => {
    throw unwritable(file, cause);
  });
  const problems = checkSpec(agentTestKind, test['spec']).problems.map(({ path, message }) => `${path}: ${message}`);
  if (problems.length > 0)
    throw new UserError(`what is written to ${file} is not yet a test: ${problems.join('; ')}`, { cure: 'change it in the file' });
  err.write(`saved as the test ${name} in ${file}\n`);
}

/** Checks the file before anything is said: a conversation can't be held a second time. @throws UserError */
async function expectWritable(file: string): Promise<void> {
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (exists) throw unwritable(file, { code: 'EEXIST' });
  await access(dirname(file), constants.W_OK).catch((cause: NodeJS.ErrnoException) => {
    throw unwritable(file, cause);
  });
}

function unwritable(file: string, cause: Partial<NodeJS.ErrnoException>): UserError {
  return new UserError(`${file} can't be written: ${cause.code === 'EEXIST' ? 'there is such a file' : causeOf(cause)}`, { cause });
}
