import { InvalidArgumentError, type Command } from 'commander';

import { examples } from '../grammar.ts';
import { jsonOption, outputOption, printData, wantsData, type OutputFlags } from '../output.ts';

import { UserError } from '../../platform/user-error.ts';
import { organizationNames, orgArgument, wholeNumber } from '../options.ts';

interface DeleteFlags extends OutputFlags {
  readonly confirm?: string;
  readonly dryRun?: true;
  readonly force?: true;
  readonly deleteNamespace?: true;
}

/** A number of days, or 'forever': commander takes null for no value. */
type Period = number | 'forever';

interface RetentionFlags extends OutputFlags {
  readonly record?: boolean;
  readonly recordings?: Period;
  readonly calls?: Period;
}

export function registerOrg(program: Command): void {
  const org = program.command('org').description('create, list, limit and delete organisations, and set what is kept of their calls');
  addCreate(org);
  addDelete(org);
  addLimit(org);
  addRetention(org);
  addList(org);
}

function addCreate(org: Command): void {
  org
    .command('create')
    .description('create organisations: for each a namespace with the label, and a row; safe to repeat')
    .argument('<names...>', 'names of the namespaces, which are the ids of the organisations', organizationNames)
    .option('--display-name <text>', 'display name of a single organisation, at most 200 characters')
    .option('--no-namespace', 'create only the row: for namespaces that another tool creates and labels')
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', examples("parley org create acme --display-name 'Acme Bicycles'", 'parley org create acme globex initech'))
    .action(async (names: readonly string[], options: { readonly displayName?: string; readonly namespace: boolean } & OutputFlags) => {
      const { displayName } = options;
      if (displayName !== undefined && names.length > 1) {
        throw new UserError('--display-name is for one organisation', { cure: 'create the others with a command each' });
      }
      const [{ withStore }, { withNamespaces }] = await Promise.all([import('../database.ts'), import('../organization-namespaces.ts')]);
      await withStore(async (store) => {
        // Asks Postgres first: an invalid name, missing migrations or no answer leave no namespace behind.
        for (const name of names) await store.organizations.check({ name, displayName });
        if (options.namespace) {
          await withNamespaces(async (namespaces) => {
            for (const name of names) await namespaces.ensure(name);
          });
        }
        const made = [];
        for (const name of names) {
          const isNew = (await store.organizations.get(name)) === undefined;
          const row = await store.organizations.create({ name, displayName });
          made.push({ name: row.name, display_name: row.displayName, created_at: row.createdAt.toISOString(), created: isNew });
          if (!wantsData(options))
            process.stdout.write(
              `organisation ${name} ${isNew ? 'is created' : 'was there already'}\n  → create an API key for it: parley keys create --org ${name} --name first\n`,
            );
        }
        if (wantsData(options)) await printData(options, made.length === 1 ? made[0] : made);
      });
    });
}

function addDelete(org: Command): void {
  org
    .command('delete')
    .description('delete an organisation with all its resources, keys, calls, recordings, documents and events; safe to repeat')
    .addArgument(orgArgument())
    .option('--confirm <name>', 'confirm with the name of the organisation instead of typing it')
    .option('--dry-run', 'only show what would be deleted')
    .option('--force', 'delete even while calls are live: their records are deleted before the conversations end')
    .option('--delete-namespace', 'delete the namespace with everything else in it; by default it only loses its label')
    .addOption(outputOption('what was deleted or, with --dry-run, would be'))
    .addHelpText('after', examples('parley org delete acme --dry-run', 'parley org delete acme --confirm acme'))
    .action(async (name: string, options: DeleteFlags) => {
      const { runDelete } = await import('../organization/run-delete.ts');
      await runDelete(name, options);
    });
}

function addLimit(org: Command): void {
  org
    .command('limit')
    .description('limit the live calls of an organisation from now on; live calls continue')
    .addArgument(orgArgument())
    .requiredOption('--live-calls <number>', '0 to 100000; 10 by default', wholeNumber(0, 100_000))
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('parley org limit acme --live-calls 50'))
    .action(async (name: string, options: { readonly liveCalls: number } & OutputFlags) => {
      const { withStore } = await import('../database.ts');
      await withStore(async (store) => {
        const { liveCallLimit } = await store.organizations.limitLiveCalls(name, options.liveCalls);
        if (wantsData(options)) await printData(options, { name, live_call_limit: liveCallLimit });
        else process.stdout.write(`organisation ${name} may have ${liveCallLimit} live calls\n`);
      });
    });
}

function addRetention(org: Command): void {
  org
    .command('retention')
    .description('show what is kept of the calls of an organisation, or change it')
    .addArgument(orgArgument())
    .option('--record <on|off>', 'off: no call that begins from now on is recorded, whatever its agent says', onOrOff)
    .option(
      '--recordings <days>',
      'days after the end of a call until its recording is deleted, or forever; agents may have their own',
      daysOrForever,
    )
    .option('--calls <days>', 'days after the end of a call until all of it is deleted, or forever', daysOrForever)
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'parley org retention acme',
        'parley org retention acme --recordings 30 --calls 365',
        'parley org retention acme --record off',
      ),
    )
    .action(async (name: string, { record, recordings, calls, ...options }: RetentionFlags) => {
      const { withStore } = await import('../database.ts');
      const change = {
        ...(record !== undefined && { recordingEnabled: record }),
        ...(recordings !== undefined && { recordingRetentionDays: daysOf(recordings) }),
        ...(calls !== undefined && { callRetentionDays: daysOf(calls) }),
      };
      await withStore(async (store) => {
        const kept = await store.organizations.setCallRetention(name, change);
        if (wantsData(options))
          await printData(options, {
            name,
            recording_enabled: kept.recordingEnabled,
            recording_retention_days: kept.recordingRetentionDays,
            call_retention_days: kept.callRetentionDays,
          });
        else
          process.stdout.write(
            `organisation ${name}: calls are ${kept.recordingEnabled ? '' : 'not '}recorded; recordings are kept ${periodOf(kept.recordingRetentionDays)}, calls ${periodOf(kept.callRetentionDays)}\n`,
          );
      });
    });
}

function addList(org: Command): void {
  org
    .command('list')
    .description('list the organisations and whether each has its namespace')
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('parley org list -o json'))
    .action(async (options: OutputFlags) => {
      const [{ withStore }, { withNamespaces }, { table }] = await Promise.all([
        import('../database.ts'),
        import('../organization-namespaces.ts'),
        import('../table.ts'),
      ]);
      const rows = await withStore(async ({ organizations }) => {
        const found = [...(await organizations.list())];
        for (let size = found.length; size === 1_000;) {
          const more = await organizations.list({ after: found.at(-1)?.name });
          found.push(...more);
          size = more.length;
        }
        return found;
      });
      const labelled = new Set(await withNamespaces((namespaces) => namespaces.list()));
      const known = new Map(rows.map((row) => [row.name, row]));
      const all = [...new Set([...known.keys(), ...labelled])].sort().map((name) => ({
        name,
        display_name: known.get(name)?.displayName ?? '',
        namespace: labelled.has(name),
        created_at: known.get(name)?.createdAt.toISOString() ?? null,
      }));
      if (wantsData(options)) {
        await printData(options, all);
        return;
      }
      process.stdout.write(
        table(
          ['NAME', 'DISPLAY NAME', 'NAMESPACE', 'CREATED'],
          all.map((row) => [row.name, row.display_name, row.namespace ? 'yes' : 'no', row.created_at ?? '-']),
        ),
      );
    });
}

function onOrOff(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('use on or off.');
  return text === 'on';
}

function daysOrForever(text: string): Period {
  return text === 'forever' ? text : wholeNumber(1, 36_500)(text);
}

function daysOf(period: Period): number | null {
  return period === 'forever' ? null : period;
}

function periodOf(days: number | null): string {
  return days === null ? 'for ever' : `for ${days} days`;
}
