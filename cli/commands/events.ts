import { InvalidArgumentError, Option, type Command } from 'commander';

import { examples } from '../grammar.ts';
import { orgOption, wholeNumber } from '../options.ts';

export function registerEvents(program: Command): void {
  const events = program.command('events').description('emit events of an organisation to test receivers, and watch events');

  events
    .command('emit')
    .description('write events as the platform does, and print a line of JSON for each once it is committed (DATABASE_URL)')
    .requiredOption('--name <event>', 'name of the event, e.g. CallHandler.CallEnded')
    .addOption(orgOption())
    .option('--agent <id>', 'agent of the event')
    .option('--workspace <name>', 'workspace of the event; by default that of its agent')
    .option('--payload <json>', 'payload, a JSON object; an example by default')
    .option('--count <number>', 'number of events', wholeNumber(1, 10_000_000), 1)
    .option('--rate <number>', 'events per second, evenly spaced; by default as fast as the database takes them', rate)
    .addOption(linesOption())
    .addHelpText('after', examples('parley events emit --org acme --name CallHandler.CallEnded --count 10 --rate 2'))
    .action(async (options: EmitOptions) => {
      const [{ emitEvents }, { organizationNamed }] = await Promise.all([import('../events/emit.ts'), import('../organization/named.ts')]);
      await emitEvents({ ...options, org: organizationNamed(options.org, process.env) });
    });

  events
    .command('tail')
    .description('print each event as a line of JSON once it is committed, until interrupted (DATABASE_URL)')
    .addOption(orgOption())
    .option('--name <event>', 'only events of this name')
    .option('--since <time>', 'also the events since this time, e.g. 2026-01-31T12:00:00Z', instant)
    .addOption(linesOption())
    .addHelpText(
      'after',
      examples('parley events tail --org acme', 'parley events tail --org acme --name CallHandler.CallEnded | jq .payload'),
    )
    .action(async (options: { readonly org?: string; readonly name?: string; readonly since?: Date }) => {
      const [{ tailEvents }, { organizationNamed }] = await Promise.all([import('../events/tail.ts'), import('../organization/named.ts')]);
      await tailEvents({ ...options, org: organizationNamed(options.org, process.env) });
    });
}

/** These commands print lines anyway. */
const linesOption = (): Option => new Option('-o, --output <format>', 'json: each event as a line of JSON (the default)').choices(['json']);

interface EmitOptions {
  readonly name: string;
  readonly org?: string;
  readonly agent?: string;
  readonly workspace?: string;
  readonly payload?: string;
  readonly count: number;
  readonly rate?: number;
}

function rate(value: string): number {
  const number = Number(value);
  if (/^\d+(\.\d+)?$/.test(value) && number > 0 && number <= 100_000) return number;
  throw new InvalidArgumentError('use a number above 0, at most 100,000.');
}

function instant(value: string): Date {
  const date = new Date(value);
  if (!Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('use a time like 2026-01-31T12:00:00Z.');
}
