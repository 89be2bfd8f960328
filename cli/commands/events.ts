import { InvalidArgumentError, type Command } from 'commander';

import { wholeNumber } from '../options.ts';

export function registerEvents(program: Command): void {
  const events = program.command('events').description('events of an organisation: make some to try receivers with, and watch them');

  events
    .command('emit')
    .description('write events as the platform itself does; prints a line of JSON for each once it is committed (DATABASE_URL)')
    .requiredOption('--name <event>', 'name of the event, e.g. CallHandler.CallEnded')
    .option('--org <name>', 'organisation; PARLEY_ORG by default')
    .option('--agent <id>', 'agent that it is about')
    .option('--workspace <name>', 'workspace that it is of')
    .option('--payload <json>', 'what it says, a JSON object; an example by default')
    .option('--count <number>', 'how many', wholeNumber(1, 10_000_000), 1)
    .option('--rate <number>', 'how many a second, evenly; as fast as the database takes them by default', rate)
    .action(async (options: EmitOptions) => {
      const [{ emitEvents }, { organizationOf }] = await Promise.all([import('../events/emit.ts'), import('../events/organization.ts')]);
      await emitEvents({ ...options, org: organizationOf(options.org, process.env) });
    });

  events
    .command('tail')
    .description('print the events that are committed from now on, a line of JSON each, until interrupted (DATABASE_URL)')
    .option('--org <name>', 'organisation; PARLEY_ORG by default')
    .option('--name <event>', 'only those of this name')
    .option('--since <time>', 'also those since then, e.g. 2026-01-31T12:00:00Z', instant)
    .action(async (options: { readonly org?: string; readonly name?: string; readonly since?: Date }) => {
      const [{ tailEvents }, { organizationOf }] = await Promise.all([import('../events/tail.ts'), import('../events/organization.ts')]);
      await tailEvents({ ...options, org: organizationOf(options.org, process.env) });
    });
}

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
  throw new InvalidArgumentError('a number above 0, 100,000 at most, is needed.');
}

function instant(value: string): Date {
  const date = new Date(value);
  if (!Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('a time like 2026-01-31T12:00:00Z is needed.');
}
