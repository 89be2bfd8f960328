import { createWriteStream, openSync } from 'node:fs';
import { devNull } from 'node:os';

import { InvalidArgumentError, Option, type Command } from 'commander';

import { isObject, parseJson } from '../../platform/json.ts';
import type { Utterance } from '../call/run-call.ts';
import { interruptible, INTERRUPTED } from '../interruptible.ts';
import { pair } from '../options.ts';

interface CallFlags {
  readonly stay?: true;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
  readonly record?: string | true;
  readonly maxSeconds?: number;
  readonly speechUrl?: string;
  readonly speechModel: string;
  readonly speechVoice: string;
  readonly output?: 'json';
  readonly quiet?: true;
}

/** Exit code for a call that ended as an error. */
const CALL_FAILED = 3;
const help = `
Prints the transcript while you talk, then the latencies of the answers and why the call ended.
Uses the microphone and the loudspeaker of this machine through parecord, pw-record, arecord or rec, and paplay, pw-play, aplay or play;
with --say or --audio it needs neither. Ctrl-C hangs up; a second one does not wait for the recording.

Exit codes: 0 the call ended, 1 the call could not be made or no agent answered, ${CALL_FAILED} the call ended as an error (the reason is printed).

Examples:
  parley call receptionist
  parley call receptionist --say "What are your opening hours?" --say "Thank you, goodbye."
  parley call receptionist --audio question.wav --record answer.ogg --json
  parley call reminder --data customer_name=Ada --metadata '{"ticket": 4711}' --max-seconds 60
`;

export function registerCall(program: Command): void {
  // Utterances in the order of the command line, over both options.
  const script: Utterance[] = [];
  program
    .command('call')
    .description('talk to an agent from the terminal (PARLEY_URL, PARLEY_API_KEY)')
    .argument('<agent>', 'id of the agent: the name of the resource')
    .option('--say <text>', 'say this with a synthesised voice once the agent has finished speaking; may be repeated', (say: string) => {
      script.push({ say });
    })
    .option('--audio <file.wav>', 'play this file; may be repeated, and mixed with --say', (audio: string) => {
      script.push({ audio });
    })
    .option('--stay', 'after the last --say or --audio, stay until the agent hangs up')
    .option('--data <name=value>', 'dynamic data of the call; may be repeated', pair)
    .option('--metadata <json>', 'metadata of the call, a JSON object', jsonObject)
    .option('--max-seconds <seconds>', 'hang up after this time', seconds)
    .option('--record [file.ogg]', 'save the recording to this file, or as <call id>.ogg in this folder')
    .option(
      '--speech-url <url>',
      "server for --say that speaks OpenAI's /audio/speech (default: PARLEY_SPEECH_URL, as `parley env` sets it)",
    )
    .option('--speech-model <name>', 'its model', 'tts-1')
    .option('--speech-voice <name>', 'its voice', 'alloy')
    .addOption(new Option('-o, --output <format>', 'json: one JSON object per line').choices(['json']))
    .addOption(new Option('--json', 'the same as -o json').implies({ output: 'json' }))
    .addOption(new Option('--quiet', 'print only the result').conflicts(['json', 'output']))
    .addHelpText('after', help)
    .action(async (agent: string, flags: CallFlags) => {
      // LiveKit's client logs to standard output, which is for results; the command itself reports what goes wrong.
      const stdout = Object.getOwnPropertyDescriptor(process, 'stdout')!;
      const nowhere = createWriteStream(devNull, { fd: openSync(devNull, 'w') });
      Object.defineProperty(process, 'stdout', { value: nowhere, configurable: true });
      const [{ runCall }, { restClientFromEnvironment }, reporters, { awakeClock }] = await Promise.all([
        import('../call/run-call.ts'),
        import('../../api/client/rest-client.ts'),
        import('../call/reporter.ts'),
        import('../../platform/clock.ts'),
      ]).finally(() => Object.defineProperty(process, 'stdout', stdout));
      const streams = { out: process.stdout, err: process.stderr };
      const chosen =
        flags.output === 'json'
          ? reporters.jsonReporter(streams, Date.now)
          : flags.quiet === true
            ? reporters.quietReporter(streams)
            : reporters.textReporter(streams);
      const speechUrl = flags.speechUrl ?? process.env['PARLEY_SPEECH_URL'];
      const rest = restClientFromEnvironment(process.env);
      const call = await interruptible(({ signal: stop }) =>
        runCall(
          {
            agent,
            script,
            metadata: flags.metadata,
            data: flags.data ?? {},
            stay: flags.stay === true,
            record: flags.record,
            maxMs: flags.maxSeconds === undefined ? undefined : flags.maxSeconds * 1_000,
            speech:
              speechUrl === undefined || speechUrl === ''
                ? undefined
                : { url: speechUrl, apiKey: process.env['PARLEY_SPEECH_API_KEY'], model: flags.speechModel, voice: flags.speechVoice },
          },
          { rest, reporter: chosen, clock: awakeClock, path: process.env['PATH'], stop },
        ).catch((error: unknown) => {
          if (error !== stop.reason) throw error;
        }),
      );
      process.exitCode = call === undefined ? INTERRUPTED : call.call_status === 'ended' ? 0 : CALL_FAILED;
    });
}

function jsonObject(text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text);
  if (isObject(value)) return value;
  throw new InvalidArgumentError('use a JSON object, such as {"ticket": 4711}.');
}

function seconds(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value > 0 && value <= 7_200) return value;
  throw new InvalidArgumentError('use a number of seconds, at most 7200.');
}
