import type { Command } from 'commander';

import { interruptible } from '../interruptible.ts';
import { orgOption, pair } from '../options.ts';

interface ChatFlags {
  readonly org?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly test?: string;
  readonly saveAsTest?: string;
}

const HELP = `
With files, the agent is compiled from them, as parley test does it, and needs no cluster; without files it is read from the cluster of the
kubeconfig, with its tools and keys. Tools are called. Type what the user says; /keys 42# presses keys, /quit or Ctrl-D hangs up.

Examples:
  parley chat receptionist .
  parley chat receptionist . --data customer=Ada --save-as-test tests/opening-hours.yaml
  parley chat receptionist . -t order-status
  parley chat receptionist --org acme
`;

export function registerChat(program: Command): void {
  program
    .command('chat')
    .description('hold a conversation with an agent in text')
    .argument('<agent>', 'name of the agent')
    .argument('[paths...]', 'files and folders with the agent and its tools; the cluster where there are none')
    .addOption(orgOption('organisation of the agent in the cluster; default: PARLEY_ORG, then the namespace of the kubeconfig'))
    .option('--data <name=value>', 'dynamic data of the call; may be repeated', pair)
    .option('-t, --test <name>', 'answer tools with the mocks of this AgentTest of the files, and take its dynamic data')
    .option('--save-as-test <file>', 'write the conversation as an AgentTest')
    .addHelpText('after', HELP)
    .action(async (agent: string, paths: readonly string[], { org, data = {}, test, saveAsTest }: ChatFlags) => {
      const [{ chat }, { agentOfFiles, withAgentOfCluster }, { openTextServices }, { UserError }] = await Promise.all([
        import('../agent-tests/chat.ts'),
        import('../agent-tests/chatted-agent.ts'),
        import('../agent-tests/text-services.ts'),
        import('../../platform/user-error.ts'),
      ]);
      await interruptible(
        async (io) => {
          if (paths.length === 0 && test !== undefined)
            throw new UserError('--test needs files', { cure: `parley chat ${agent} . -t ${test}` });
          const open = openTextServices(io.env);
          const use = (chatted: Awaited<ReturnType<typeof agentOfFiles>>): Promise<void> =>
            chat({ agent: chatted, open, dynamicData: data, saveAsTest, input: process.stdin }, io);
          if (paths.length > 0) await use(await agentOfFiles({ agent, paths, test }, io.env));
          else await withAgentOfCluster({ agent, org }, { io, clock: open.services.clock }, use);
        },
        { whileRead: true },
      );
    });
}
