import { Option, type Command } from 'commander';

import { examples } from '../grammar.ts';
import { interruptible } from '../interruptible.ts';
import { outputOption, printData, wantsData, type OutputFlags } from '../output.ts';

const ENVIRONMENT = '(PARLEY_URL, PARLEY_API_KEY)';
const CALL = 'id of the call: call_…';

export function registerCalls(program: Command): void {
  const calls = program.command('calls').description('follow calls while they go on, and steer them; `kubectl parley calls` lists calls');
  addWatch(calls);
  const text = { name: '<text>', description: 'the words' };
  addCommand(calls, 'say', {
    description: 'have the agent say something',
    argument: text,
    flag: ['--interrupt', 'at once, in place of what the agent says'],
    example: 'parley calls say call_019aa1f2-… "A colleague joins us in a moment." --interrupt',
    body: (words, interrupt) => ({ text: words, interrupt }),
  });
  addCommand(calls, 'instruct', {
    description: 'tell the model something that is not said',
    path: 'instructions',
    argument: text,
    example: 'parley calls instruct call_019aa1f2-… "You may offer a discount of 10 percent."',
    body: (words) => ({ text: words }),
  });
  addCommand(calls, 'mute', {
    description: 'have the agent neither speak nor answer',
    example: 'parley calls mute call_019aa1f2-…',
    body: () => ({ muted: true }),
  });
  addCommand(calls, 'unmute', {
    description: 'let the agent answer again',
    path: 'mute',
    example: 'parley calls unmute call_019aa1f2-…',
    body: () => ({ muted: false }),
  });
  addCommand(calls, 'transfer', {
    description: 'transfer a phone call',
    argument: { name: '<target>', description: 'number with the country code, or sip: URI' },
    flag: ['--warm', 'the agent speaks to the other side first'],
    example: 'parley calls transfer call_019aa1f2-… +15550100 --warm',
    body: (to, warm) => ({ to, mode: warm ? 'warm' : 'cold' }),
  });
}

function addWatch(calls: Command): void {
  calls
    .command('watch')
    .description(`print what is said and done in a call, until it is over ${ENVIRONMENT}`)
    .argument('<call>', CALL)
    .addOption(new Option('-o, --output <format>', 'json: each event of the REST API as a line of JSON').choices(['json']))
    .addHelpText(
      'after',
      `\nNeeds calls:read. Ctrl-C ends it, and changes nothing in the call.\n${examples('parley calls watch call_019aa1f2-…')}`,
    )
    .action(async (call: string, { output }: { readonly output?: 'json' }) => {
      const [{ watchCall, lineOf }, { restClientFromEnvironment }, { awakeClock }] = await Promise.all([
        import('../call/watch-call.ts'),
        import('../../api/client/rest-client.ts'),
        import('../../platform/clock.ts'),
      ]);
      const rest = restClientFromEnvironment(process.env);
      await interruptible(
        ({ signal, out }) =>
          watchCall({
            call,
            rest,
            clock: awakeClock,
            signal,
            onEvent(event) {
              const line = output === 'json' ? JSON.stringify(event) : lineOf(event);
              if (line !== undefined) out.write(`${line}\n`);
            },
          }),
        { whileRead: true },
      );
    });
}

interface CommandWish {
  readonly description: string;
  /** The end of its address; the name by default. */
  readonly path?: string;
  readonly argument?: { readonly name: string; readonly description: string };
  readonly flag?: readonly [name: string, description: string];
  readonly example: string;
  readonly body: (argument: string, flag: boolean) => object;
}

/** Adds a command that sends one to a call that goes on. */
function addCommand(calls: Command, name: string, { description, path = name, argument, flag, example, body }: CommandWish): void {
  const command = calls.command(name).description(`${description} ${ENVIRONMENT}`).argument('<call>', CALL);
  if (argument !== undefined) command.argument(argument.name, argument.description);
  if (flag !== undefined) command.option(...flag);
  command
    .addOption(outputOption('the command as the REST API has it'))
    .addHelpText('after', `\nNeeds calls:control.\n${examples(example)}`)
    .action(async (call: string, ...rest: readonly unknown[]) => {
      const given = argument === undefined ? '' : String(rest[0]);
      const flags = rest[argument === undefined ? 0 : 1] as OutputFlags & Readonly<Record<string, unknown>>;
      const isSet = flag !== undefined && flags[flag[0].slice(2)] === true;
      const { restClientFromEnvironment } = await import('../../api/client/rest-client.ts');
      const client = restClientFromEnvironment(process.env);
      const answer = (await client.request('POST', `/v1/calls/${encodeURIComponent(call)}/${path}`, body(given, isSet))) as {
        readonly command_id: string;
        readonly status: string;
      };
      if (wantsData(flags)) await printData(flags, answer);
      else process.stdout.write(`${answer.command_id} ${answer.status}\n`);
    });
}
